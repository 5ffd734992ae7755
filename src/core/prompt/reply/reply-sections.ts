import { type JsonObject, quote } from '../../json/json-value.ts';
import { BRANCH_CHILDREN_MAX, BRANCH_SUMMARY_BYTES_MAX, RECAP_ENTRY_BYTES_MAX } from '../../log/budgets.ts';
import type { NodeId } from '../../log/ids.ts';
import { clip, truncate } from '../../text/utf8.ts';
import { RECORDED, visibleLine } from '../../text/visible-text.ts';
import { plural } from '../../text/words.ts';
import type { Recap } from '../../views/recap.ts';
import {
  type BranchPart,
  type NotedStep,
  RECORDED_LABEL,
  type RecapPart,
  type RecordedEntry,
  type ReplyParts,
  recordedBlock,
  type ShownArtifact,
  type ShownComment,
} from '../reply-parts.ts';
import { titleWithoutValues } from '../step/fill-values.ts';
import type { StandingTexts } from '../step/render-step.ts';
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
function branchText({ preferred }: BranchPart): readonly TextPart[] {
  const { stateToken, stepTitle, isComplete } = preferred;
  const stand = isComplete ? 'complete.' : `now at "${visibleLine(stepTitle)}".`;
  return [
    `You already finished this step. The run is ${stand}\n${toStay(preferred)}: `,
    ...callText({ tool: 'continue_workflow', arguments: { stateToken } }),
    AGAIN,
  ];
}

/** What stands before the call that follows the existing branch. */
export function toStay({ isComplete }: BranchPart['preferred']): string {
  return isComplete ? 'To see the result of the run' : 'To continue where the run is now';
}

/** What was sent for the step before, and the notes of the branch. */
function branchEntries({ children, childrenOmitted, preferred }: BranchPart): readonly RecordedEntry[] {
  const sent = children.map(({ kind, summary }) => {
    const text = visibleLine(summary);
    return text === ''
      ? { heading: `${KINDS[kind]} earlier, without notes.` }
      : { heading: `${KINDS[kind]} earlier; the notes begin with:`, text };
  });
  const more = childrenOmitted === 0 ? [] : [{ heading: `Sent earlier for this step: ${childrenOmitted} more` }];
  return [...sent, ...more, ...recapEntries(preferred.recap, 'Notes on the existing branch')];
}

const AGAIN =
  '\nTo do this step again on a new branch, do it and send the call after "Next call:" below. The existing branch is kept.';

const KINDS: { readonly [kind in BranchPart['children'][number]['kind']]: string } = {
  step: 'This step was reported as done',
  blocked_attempt: 'An attempt at this step was blocked',
  checkpoint: 'Progress of this step was saved',
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

type Values = ReadonlyMap<string, string>;

/** Texts around a step with the values of this place, and the values that have no room in them. */
export type ReplyTexts = { readonly standing: StandingTexts; readonly values: Values };

/**
 * The sections around a step at the start of a run and when it is rehydrated. The block of recorded text is the last
 * one; it also holds the values that have no room in the step's texts.
 */
export function replySections(parts: ReplyParts, { standing, values }: ReplyTexts): readonly Section[] {
  const block = recordedBlock(recordedEntries(parts, values));
  return [...ownSections(parts, standing), ...(block === undefined ? [] : [[block]])];
}

function ownSections(parts: ReplyParts, standing: StandingTexts): readonly Section[] {
  switch (parts.lifecycle) {
    case 'start':
      return startSections(parts, standing);
    case 'rehydrate':
      return returnSections(parts, standing);
    default:
      return [];
  }
}

/** The same label and values as data; the other recorded texts have fields of their own. */
export function recordedData(parts: ReplyParts, values: Values): { readonly recorded?: JsonObject } {
  if (recordedEntries(parts, values).length === 0) return {};
  const { artifacts = [], comments = [] } = parts;
  const shown = {
    ...(values.size === 0 ? {} : { values: Object.fromEntries(values) }),
    ...(artifacts.length === 0 ? {} : { artifacts: artifactsData(artifacts) }),
    ...(comments.length === 0 ? {} : { comments: commentsData(comments) }),
  };
  return { recorded: { label: RECORDED_LABEL, ...shown } };
}

function recordedEntries(parts: ReplyParts, values: Values): readonly RecordedEntry[] {
  const { goal, recap, draft, branch, artifacts = [], comments = [] } = parts;
  return [
    ...(goal === undefined ? [] : [{ heading: 'Goal:', text: goal }]),
    ...(recap === undefined ? [] : recapEntries(recap, 'Notes up to this step')),
    ...(draft === undefined ? [] : draftEntries(draft, shownDraft(parts))),
    ...(branch === undefined ? [] : branchEntries(branch)),
    ...commentEntries(comments),
    ...artifactEntries(artifacts),
    ...[...values].map(([name, text]) => ({ heading: `Value of ${name}:`, text })),
  ];
}

/** The same as data, without empty lists. */
export function guidanceData(standing: StandingTexts): { readonly guidance?: JsonObject } {
  const guidance = Object.fromEntries(Object.entries(standing).filter(([, texts]) => texts.length > 0));
  return Object.keys(guidance).length === 0 ? {} : { guidance };
}

function startSections({ facts }: ReplyParts, standing: StandingTexts): readonly Section[] {
  const { preconditions, clarificationPrompts, metaGuidance } = standing;
  const isGuided = facts.preferences.autonomy === 'guided';
  return [
    ...list('Before you begin, make sure that:', preconditions),
    ...list(isGuided ? ASK : ANSWER, clarificationPrompts),
    ...list(STANDING, metaGuidance),
  ];
}

const ASK = 'Clarify these points. Where the goal leaves one open, ask the user or note what you assume:';
const ANSWER = 'Answer these yourself as the user most likely would, and note what you assumed:';
const STANDING = 'Rules for the whole workflow:';

function returnSections({ draft, branch }: ReplyParts, { metaGuidance }: StandingTexts): readonly Section[] {
  return [
    ...list(STANDING, metaGuidance),
    ...(draft === undefined ? [] : [[KEPT]]),
    ...(branch === undefined ? [] : [branchText(branch)]),
  ];
}

function list(lead: string, texts: readonly string[]): readonly Section[] {
  return texts.length === 0 ? [] : [[[lead, ...texts.map((text) => `- ${text}`)].join('\n')]];
}

const KEPT = `Your blocked report is kept; see "${RECORDED}" below. Send only what is missing. If you send notes, they replace all notes of that report.`;

function draftEntries(
  { artifactKinds }: NonNullable<ReplyParts['draft']>,
  shown: string | undefined,
): readonly RecordedEntry[] {
  return [
    ...(artifactKinds.length === 0
      ? []
      : [{ heading: 'Artifacts of the blocked report:', text: visibleLine(artifactKinds.join(', ')) }]),
    ...(shown === undefined ? [] : [{ heading: 'Notes of the blocked report:', text: shown }]),
  ];
}

/** A draft is shown like a note of the recap; the whole draft is kept. */
export function shownDraft({ draft, draftBytesMax = RECAP_ENTRY_BYTES_MAX }: ReplyParts): string | undefined {
  return draft?.notesMarkdown === undefined ? undefined : truncate(draft.notesMarkdown, draftBytesMax);
}

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

/** The recap, oldest first; the heading says what was left out. */
export function recapEntries(
  { lines, omitted, artifacts = [], comments = [] }: RecapPart,
  lead: string,
): readonly RecordedEntry[] {
  return [...noteEntries({ lines, omitted }, lead), ...commentEntries(comments), ...artifactEntries(artifacts)];
}

function commentEntries(comments: readonly ShownComment[]): readonly RecordedEntry[] {
  return comments.map(({ title, statement, text }) => ({
    heading: `A person ${statement} step "${visibleLine(title)}" and wrote:`,
    text,
  }));
}

function commentsData(comments: readonly ShownComment[]): readonly JsonObject[] {
  return comments.map(({ title, statement, text }) => ({ title, statement, text }));
}

function artifactEntries(artifacts: readonly ShownArtifact[]): readonly RecordedEntry[] {
  return artifacts.map(({ title, kind, text, isSaved }) => ({
    heading: `Artifact ${quote(clip(visibleLine(kind)))}${isSaved === true ? ', saved during' : ' of'} step "${visibleLine(title)}":`,
    text,
  }));
}

function artifactsData(artifacts: readonly ShownArtifact[]): readonly JsonObject[] {
  return artifacts.map(({ title, kind, text, isSaved }) => ({
    title,
    kind,
    text,
    ...(isSaved === true ? { saved: true } : {}),
  }));
}

function noteEntries({ lines, omitted }: RecapPart, lead: string): readonly RecordedEntry[] {
  if (lines.length === 0 && omitted === 0) return [{ heading: `${lead}: none yet.` }];
  const notes = plural(omitted, 'older note is', 'older notes are');
  const left = omitted === 0 ? '' : ` (${notes} left out; the newest are kept)`;
  return [
    { heading: `${lead}${left}:` },
    ...lines.map(({ title, text, isSaved }) => ({
      heading: `${isSaved === true ? 'Saved during step' : 'Step'} "${visibleLine(title)}":`,
      text,
    })),
  ];
}

/** The recap as data. A shortened recap names the rule that shortened it. */
export function recapData({ lines, omitted, artifacts = [], comments = [] }: RecapPart): JsonObject {
  return {
    entries: lines.map(({ stepId, title, text, isSaved }) => ({
      ...(stepId === undefined ? {} : { stepId }),
      title,
      text,
      ...(isSaved === true ? { saved: true } : {}),
    })),
    omitted,
    ...(omitted === 0 ? {} : { policy: 'kept_newest' }),
    ...(artifacts.length === 0 ? {} : { artifacts: artifactsData(artifacts) }),
    ...(comments.length === 0 ? {} : { comments: commentsData(comments) }),
  };
}
