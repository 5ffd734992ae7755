import type { JsonObject } from '../../json/json-value.ts';
import { truncate } from '../../json/truncate.ts';
import { RECAP_ENTRY_BYTES_MAX } from '../../log/budgets.ts';
import type { ReplyParts } from '../reply-parts.ts';
import { oneLine, quoteReservedLines } from '../reserved-lines.ts';
import { branchText } from './branch-part.ts';
import type { TextPart } from './call-text.ts';
import { recapText } from './recap-part.ts';

type Section = readonly TextPart[];

/** What stands around a step for somebody who begins the workflow, or comes back to it. */
export function replySections(parts: ReplyParts): readonly Section[] {
  switch (parts.lifecycle) {
    case 'start':
      return startSections(parts);
    case 'rehydrate':
      return returnSections(parts);
    default:
      return [];
  }
}

/** The same as data: what is empty is left out. */
export function guidanceData({ index, lifecycle }: ReplyParts): { readonly guidance?: JsonObject } {
  const { metaGuidance, preconditions, clarificationPrompts } = index.workflow;
  const told = {
    ...(lifecycle === 'start' ? { preconditions, clarificationPrompts } : {}),
    ...(lifecycle === 'start' || lifecycle === 'rehydrate' ? { metaGuidance } : {}),
  };
  const guidance = Object.fromEntries(Object.entries(told).filter(([, texts]) => texts.length > 0));
  return Object.keys(guidance).length === 0 ? {} : { guidance };
}

function startSections({ index, facts, goal }: ReplyParts): readonly Section[] {
  const { preconditions, clarificationPrompts, metaGuidance } = index.workflow;
  const isGuided = facts.preferences.autonomy === 'guided';
  return [
    ...goalSections(goal),
    ...list('Before you begin, make sure that:', preconditions),
    ...list(isGuided ? ASK : ANSWER, clarificationPrompts),
    ...list(STANDING, metaGuidance),
  ];
}

const ASK = 'Be clear about this; where the goal leaves it open, ask the user or note what you assume:';
const ANSWER = 'Settle this yourself as the user most likely would, and note what you assumed:';
const STANDING = 'Rules for the whole workflow:';

function returnSections(parts: ReplyParts): readonly Section[] {
  const { index, goal, recap, draft, branch } = parts;
  return [
    ...goalSections(goal),
    ...list(STANDING, index.workflow.metaGuidance),
    ...(recap === undefined ? [] : [[recapText(recap, 'Work so far')]]),
    ...(draft === undefined ? [] : [[draftText(draft, shownDraft(parts))]]),
    ...(branch === undefined ? [] : [branchText(branch)]),
  ];
}

function goalSections(goal: string | undefined): readonly Section[] {
  return goal === undefined ? [] : [[`Goal: ${quoteReservedLines(goal)}`]];
}

function list(lead: string, texts: readonly string[]): readonly Section[] {
  return texts.length === 0 ? [] : [[[lead, ...texts.map((text) => `- ${text}`)].join('\n')]];
}

function draftText({ artifactKinds }: NonNullable<ReplyParts['draft']>, shown: string | undefined): string {
  const artifacts = artifactKinds.length === 0 ? [] : [`Artifacts: ${oneLine(artifactKinds.join(', '))}.`];
  const notes = shown === undefined ? [] : [`Notes:\n${quoteReservedLines(shown)}`];
  return [
    'Kept from the report that was held back. Send only what is missing; new notes replace these.',
    ...artifacts,
    ...notes,
  ].join('\n');
}

/** A draft is shown like a note of the recap; all of it is kept. */
export function shownDraft({ draft, draftBytesMax = RECAP_ENTRY_BYTES_MAX }: ReplyParts): string | undefined {
  return draft?.notesMarkdown === undefined ? undefined : truncate(draft.notesMarkdown, draftBytesMax);
}
