import { type JsonObject, quote } from '../../json/json-value.ts';
import { BRANCH_CHILDREN_MAX, BRANCH_SUMMARY_BYTES_MAX, RECAP_ENTRY_BYTES_MAX } from '../../log/budgets.ts';
import type { NodeId } from '../../log/ids.ts';
import { truncate } from '../../text/utf8.ts';
import { plural } from '../../text/words.ts';
import type { Recap } from '../../views/recap.ts';
import type { BranchPart, RecapPart, ReplyParts } from '../reply-parts.ts';
import { oneLine, quoteReservedLines, titleWithoutValues } from '../step/fill-values.ts';
import { callText, type TextPart } from './footer.ts';

/** A branch within its budgets: the rest is counted, not shown. */
export function fittedBranch(branch: BranchPart): BranchPart {
  const children = branch.children.slice(0, BRANCH_CHILDREN_MAX).map(({ kind, summary }) => ({
    kind,
    summary: truncate(summary, BRANCH_SUMMARY_BYTES_MAX),
  }));
  const childrenOmitted = branch.childrenOmitted + branch.children.length - children.length;
  const stepTitle = titleWithoutValues(branch.preferred.stepTitle);
  return { children, childrenOmitted, preferred: { ...branch.preferred, stepTitle } };
}

/** Shows what followed a step that was already done, and that there is a choice. */
function branchText({ children, childrenOmitted, preferred }: BranchPart): readonly TextPart[] {
  const { stateToken, stepTitle, isComplete, recap } = preferred;
  const stand = isComplete ? 'complete.' : `now at "${stepTitle}".`;
  const list = children.map(({ kind, summary }) => {
    const notes = oneLine(summary);
    return `- ${KINDS[kind]}${notes === '' ? ', without notes.' : `. The notes begin: ${quote(notes)}`}`;
  });
  const more = childrenOmitted === 0 ? [] : [`- and ${childrenOmitted} more`];
  return [
    `You already finished this step. The run is ${stand}\n${toStay(preferred)}: `,
    ...callText({ tool: 'continue_workflow', arguments: { stateToken } }),
    [AGAIN, '\nAlready sent for this step:', ...list, ...more].join('\n'),
    `\n\n${recapText(recap, 'Notes on the existing branch')}`,
  ];
}

/** What stands before the call that follows the existing branch. */
export function toStay({ isComplete }: BranchPart['preferred']): string {
  return isComplete ? 'To see its result' : 'To continue from there';
}

const AGAIN =
  '\nTo do this step again on a new branch, do it and send the call after "Next call:" below. The existing branch is kept.';

const KINDS: { readonly [kind in BranchPart['children'][number]['kind']]: string } = {
  step: 'Reported as done',
  blocked_attempt: 'Blocked',
  checkpoint: 'Saved',
};

export function branchData({ children, childrenOmitted, preferred }: BranchPart): JsonObject {
  const { stateToken, stepTitle, isComplete, recap } = preferred;
  return {
    children: children.map(({ kind, summary }) => ({ kind, summary })),
    childrenOmitted,
    preferred: { stateToken, stepTitle, isComplete, recap: recapData(recap) },
  };
}

type Section = readonly TextPart[];

/** The sections around a step at the start of a run and when it is rehydrated. */
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

/** The same as data, without empty lists. */
export function guidanceData({ index, lifecycle }: ReplyParts): { readonly guidance?: JsonObject } {
  const { metaGuidance, preconditions, clarificationPrompts } = index.workflow;
  const shown = {
    ...(lifecycle === 'start' ? { preconditions, clarificationPrompts } : {}),
    ...(lifecycle === 'start' || lifecycle === 'rehydrate' ? { metaGuidance } : {}),
  };
  const guidance = Object.fromEntries(Object.entries(shown).filter(([, texts]) => texts.length > 0));
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

const ASK = 'Clarify these points. Where the goal leaves one open, ask the user or note what you assume:';
const ANSWER = 'Answer these yourself as the user most likely would, and note what you assumed:';
const STANDING = 'Rules for the whole workflow:';

function returnSections(parts: ReplyParts): readonly Section[] {
  const { index, goal, recap, draft, branch } = parts;
  return [
    ...goalSections(goal),
    ...list(STANDING, index.workflow.metaGuidance),
    ...(recap === undefined ? [] : [[recapText(recap, 'Notes so far')]]),
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
    'Kept from your blocked report. Send only what is missing; new notes replace these.',
    ...artifacts,
    ...notes,
  ].join('\n');
}

/** A draft is shown like a note of the recap; the whole draft is kept. */
export function shownDraft({ draft, draftBytesMax = RECAP_ENTRY_BYTES_MAX }: ReplyParts): string | undefined {
  return draft?.notesMarkdown === undefined ? undefined : truncate(draft.notesMarkdown, draftBytesMax);
}

/** The step that a note was written for; a note before the first step or after the last has only a title. */
export type NotedStep = { readonly stepId?: string; readonly title: string };

/** The notes of a recap under the titles of their steps. */
export function recapPart(recap: Recap, stepOfNote: (nodeId: NodeId) => NotedStep): RecapPart {
  return {
    lines: recap.entries.map(({ nodeId, text }) => {
      const step = stepOfNote(nodeId);
      return { ...step, title: titleWithoutValues(step.title), text };
    }),
    omitted: recap.olderLeftOut,
  };
}

/** The recap as text, oldest first; the heading says what was left out. */
export function recapText({ lines, omitted }: RecapPart, lead: string): string {
  if (lines.length === 0 && omitted === 0) return `${lead}: none yet.`;
  const notes = plural(omitted, 'older note is', 'older notes are');
  const left = omitted === 0 ? '' : ` (${notes} left out; the newest are kept)`;
  return [
    `${lead}${left}:`,
    ...lines.map(({ title, text }) => `### ${title}\n${quoteReservedLines(text.trimEnd())}`),
  ].join('\n\n');
}

/** The recap as data. A shortened recap names the rule that shortened it. */
export function recapData({ lines, omitted }: RecapPart): JsonObject {
  return {
    entries: lines.map(({ stepId, title, text }) => ({ ...(stepId === undefined ? {} : { stepId }), title, text })),
    omitted,
    ...(omitted === 0 ? {} : { policy: 'kept_newest' }),
  };
}
