import { defined, quote } from '../json/json-value.ts';
import type { NodeId } from '../log/ids.ts';
import { draftCode } from '../run/gate-facts.ts';
import { utcMinute } from '../text/utc-time.ts';
import { clip, utf8Length } from '../text/utf8.ts';
import { visibleLine } from '../text/visible-text.ts';
import { gapText, plural } from '../text/words.ts';
import type { CompiledWorkflow } from '../workflow/compiled/compiled-workflow.ts';
import { type Attestation, attestationWords, checkRunWords, commandText } from './attestations.ts';
import { type AdvanceRecord, type GapRecord, gapsOfRun } from './node-facts.ts';
import { nodeOf, type RunNode } from './run-graph.ts';
import { blockersAt } from './run-status.ts';
import type { SessionView } from './session-view.ts';

/** How well a check of a step was known to have passed when the step was done. */
export type RecordedCheck = NonNullable<AdvanceRecord['data']['checks']>[number];

/** The checks of the step that led to a node. */
export function checksAt({ graph, advances }: SessionView, nodeId: NodeId): readonly RecordedCheck[] {
  const { parentNodeId } = nodeOf(graph, nodeId);
  if (parentNodeId === null) return [];
  for (const { data } of advances.get(parentNodeId)?.values() ?? []) {
    if (data.outcome.kind === 'advanced' && data.outcome.toNodeId === nodeId) return data.checks ?? [];
  }
  return [];
}

/** The checks of all steps that were done on the way to a node, oldest first. */
export function checksOnLine(view: SessionView, nodeId: NodeId): readonly RecordedCheck[] {
  const line: (readonly RecordedCheck[])[] = [];
  for (let id: NodeId | null = nodeId; id !== null; id = nodeOf(view.graph, id).parentNodeId) {
    line.push(checksAt(view, id));
  }
  return line.reverse().flat();
}

/** What shows that a check passed. */
export const GRADE_MEANINGS = {
  asserted: 'the agent sent only notes',
  reported: 'the agent sent a result',
  observed: 'WorkRail ran it',
  verified: 'CI ran it',
} as const satisfies Record<NonNullable<RecordedCheck['grade']>, string>;

/** The grade of the evidence for a check, with what it means. */
export function gradeWords(check: Pick<RecordedCheck, 'minimum' | 'grade'>): string {
  return `${gradeOf(check)}${check.grade === undefined ? '' : ` (${GRADE_MEANINGS[check.grade]})`}`;
}

/** The grade alone; "only" where the step asks for a stronger one. */
export function gradeOf({ minimum, grade }: Pick<RecordedCheck, 'minimum' | 'grade'>): string {
  if (grade === undefined) return `not shown (must be ${minimum})`;
  return grade === 'verified' || grade === 'observed' || grade === minimum ? grade : `only ${grade}`;
}

/** What a person answered or a command showed about a step, as one line of text. */
export type EvidenceLine = {
  readonly kind: 'answer' | 'check';
  /** The step, or the context key that was asked for. */
  readonly about: string;
  readonly checkId?: string;
  /** Of a check: how often it was recorded for its step before on the line. A loop does a step more than once. */
  readonly round?: number;
  /** The command of a check as it was run. */
  readonly command?: string;
  /** What was answered, or how the command ended. */
  readonly words: string;
};

/** A line of evidence with its command: whole, or cut to what a reply has room for. */
export function evidenceWords({ kind, command, words }: Omit<EvidenceLine, 'about'>, bytesMax?: number): string {
  if (kind === 'answer') return words;
  if (command === undefined) return `the command ${words}`;
  const isCut = bytesMax !== undefined && utf8Length(command) > bytesMax;
  return `${commandText(isCut ? clip(command, bytesMax) : command)}${isCut ? ' (cut)' : ''} ${words}`;
}

/** What evidence is read with. */
type EvidenceAbout = {
  readonly workflow: CompiledWorkflow | undefined;
  /** The digest of the files that are asked about; a check that ran on others says so. */
  readonly files?: string | undefined;
  /** The checks that were recorded before on the line, where they are known already. */
  readonly recorded?: readonly RecordedCheck[];
};

/** The evidence of all steps that were done on the way to a node, oldest first. */
export function evidenceOnLine(view: SessionView, nodeId: NodeId, about: EvidenceAbout): readonly EvidenceLine[] {
  const line: NodeId[] = [];
  for (let id: NodeId | null = nodeId; id !== null; id = nodeOf(view.graph, id).parentNodeId) line.push(id);
  const recorded: RecordedCheck[] = [];
  return line.reverse().flatMap((id) => {
    const evidence = evidenceAt(view, id, { ...about, recorded });
    recorded.push(...checksAt(view, id));
    return evidence;
  });
}

/** What was said and shown about the step that led to a node; of several runs of a check the newest, which counts. */
export function evidenceAt(view: SessionView, nodeId: NodeId, about: EvidenceAbout): readonly EvidenceLine[] {
  const { kind, parentNodeId, createdIndex, runId } = nodeOf(view.graph, nodeId);
  if (kind !== 'step' || parentNodeId === null) return [];
  return evidenceBefore(view, {
    nodeId: parentNodeId,
    before: createdIndex,
    end: isGatePassed(view, { nodeId, runId }) ? 'passed' : 'done',
    ...about,
  });
}

/**
 * Whether a person answered about what the step that led to a node handed in, or about a draft of the next step, with these
 * notes in view.
 */
export function wasAnswered(view: SessionView, nodeId: NodeId): boolean {
  const { kind, parentNodeId, createdIndex } = nodeOf(view.graph, nodeId);
  const before = kind !== 'step' || parentNodeId === null ? [] : saidBefore(view, parentNodeId, createdIndex);
  return [...before, ...saidBefore(view, nodeId, Number.POSITIVE_INFINITY)].some(
    ({ data: { subject, statement } }) => subject.kind === 'attempt' && statement.kind !== 'rejected',
  );
}

/** Whether the step that led to a node was done without the answer that it asks for. */
function isGatePassed({ gaps }: SessionView, { nodeId, runId }: Pick<RunNode, 'nodeId' | 'runId'>): boolean {
  return gapsOfRun(gaps, runId).some(
    ({ scope, data }) => scope.nodeId === nodeId && data.details?.['passedBy'] !== undefined,
  );
}

/** What a person wrote with an answer that let a step be done. */
export type AnswerComment = { readonly statement: 'approved' | 'answered'; readonly text: string };

/** The comments of the answers that let the step before a node be done. */
export function commentsAt(view: SessionView, nodeId: NodeId): readonly AnswerComment[] {
  const { kind, parentNodeId, createdIndex, runId } = nodeOf(view.graph, nodeId);
  if (kind !== 'step' || parentNodeId === null) return [];
  const comments = commentsBefore(view, parentNodeId, createdIndex);
  return comments.length > 0 && isGatePassed(view, { nodeId, runId }) ? [] : comments;
}

/** The same for an attempt at a node that gets the step done now: the newest comment of each approver, oldest first. */
export function commentsBefore(
  view: SessionView,
  nodeId: NodeId,
  before = Number.POSITIVE_INFINITY,
): readonly AnswerComment[] {
  if (view.attestations.size === 0) return [];
  const answers = saidBefore(view, nodeId, before).filter(({ data }) => data.subject.kind === 'attempt');
  const counted = countedAnswer(view, nodeId, answers);
  if (counted === undefined) return [];
  const newest = new Map<string | undefined, Attestation>();
  for (const answer of answers) {
    if (draftOf(answer) !== draftOf(counted)) continue;
    // A rejection ends what was answered before it.
    if (answer.data.statement.kind === 'rejected') newest.clear();
    else newest.set(answer.data.signature?.name, answer);
  }
  return [...newest.values()].flatMap(({ data: { statement } }) => {
    if (statement.kind !== 'approved' && statement.kind !== 'answered') return [];
    const { kind, comment = '' } = statement;
    return comment.trim() === '' ? [] : [{ statement: kind, text: comment }];
  });
}

function draftOf({ data: { subject } }: Attestation): string | undefined {
  return subject.kind === 'attempt' ? subject.digest : undefined;
}

/** The evidence for an attempt that gets the step done now, or for one that is still pending. */
export function evidenceBefore(
  view: SessionView,
  at: EvidenceAbout & {
    /** The node at which the attempt is made. */
    readonly nodeId: NodeId;
    readonly before?: number;
    /** Whether the step was done; `passed`: without an answer, so that none counted. */
    readonly end: 'done' | 'passed' | 'pending';
  },
): readonly EvidenceLine[] {
  const { nodeId, before = Number.POSITIVE_INFINITY, end, workflow, files } = at;
  const said = saidBefore(view, nodeId, before);
  const answers = said.filter(({ data }) => data.subject.kind === 'attempt');
  const counted = end === 'done' ? countedAnswer(view, nodeId, answers) : undefined;
  return [
    ...answers.map((event): EvidenceLine => {
      // A rejection is no approval that failed to count: it was the reason for a new draft.
      const isOpen = end === 'pending' || event.data.statement.kind === 'rejected';
      const use = isOpen ? [] : [event === counted ? 'this answer counted' : 'this answer did not count'];
      return { kind: 'answer', about: askedAbout(view, event), words: [answerWords(event), ...use].join(', ') };
    }),
    ...[...newestRuns(said).values()].flatMap((event) => {
      const line = checkLine(event, workflow, files);
      if (line === undefined) return [];
      const { recorded = checksOnLine(view, nodeId) } = at;
      const isSame = (one: RecordedCheck) => one.stepId === line.about && one.checkId === line.checkId;
      return [{ ...line, round: recorded.filter(isSame).length }];
    }),
  ];
}

/** Everything that was recorded at a step and its attempts since it was last done, up to an event. */
function saidBefore({ graph, attestations }: SessionView, nodeId: NodeId, before: number): readonly Attestation[] {
  let step = nodeOf(graph, nodeId);
  while (step.kind !== 'step' && step.parentNodeId !== null) step = nodeOf(graph, step.parentNodeId);
  const found: Attestation[] = [];
  let doneAt = -1;
  const around: RunNode[] = [step];
  // The list grows while it is walked: attempts hang on each other.
  for (const node of around) {
    found.push(...(attestations.get(node.nodeId) ?? []));
    for (const child of node.children.map((id) => nodeOf(graph, id))) {
      if (child.kind !== 'step') around.push(child);
      else if (child.createdIndex < before) doneAt = Math.max(doneAt, child.createdIndex);
    }
  }
  return found
    .filter(({ eventIndex }) => eventIndex > doneAt && eventIndex < before)
    .sort((a, b) => a.eventIndex - b.eventIndex);
}

/** The answer that let the step be done: the newest that is not a rejection, about the draft of the last attempt if known. */
function countedAnswer(view: SessionView, nodeId: NodeId, answers: readonly Attestation[]): Attestation | undefined {
  const given = answers.filter(({ data }) => data.statement.kind !== 'rejected');
  const drafts = blockersAt(view, nodeId).flatMap(({ details }) => {
    const approval = details?.['approval'] as { readonly digest?: unknown } | undefined;
    return typeof approval?.digest === 'string' ? [approval.digest] : [];
  });
  const isDraft = ({ data: { subject } }: Attestation) => subject.kind === 'attempt' && drafts.includes(subject.digest);
  return given.findLast(isDraft) ?? given.at(-1);
}

function askedAbout(view: SessionView, { scope }: Attestation): string {
  const pointer = blockersAt(view, scope.nodeId).find(({ details }) => details?.['approval'] !== undefined)?.pointer;
  if (pointer?.kind === 'workflow_step') return pointer.stepId;
  return pointer?.kind === 'context_key' ? pointer.key : '';
}

const COMMENT_BYTES_MAX = 200;
const COMMAND_BYTES_MAX = 120;
const WITH_VALUES = '(the record does not say with which values)';

function answerWords({ data, at }: Attestation): string {
  const { subject, statement } = data;
  const draft = subject.kind === 'attempt' ? `draft ${draftCode(subject.digest as `sha256:${string}`)} ` : '';
  const comment = statement.kind === 'check' || statement.comment === undefined ? [] : [statement.comment];
  return [
    `${draft}${attestationWords(data)}`,
    ...timeWords(at),
    ...comment.map((text) => `comment ${quote(clip(text, COMMENT_BYTES_MAX))}`),
  ].join(', ');
}

function checkLine(
  { data, at }: Attestation,
  workflow: CompiledWorkflow | undefined,
  files: string | undefined,
): EvidenceLine | undefined {
  const { subject, statement, by } = data;
  if (subject.kind !== 'step' || statement.kind !== 'check') return undefined;
  const { checkId } = statement;
  const step = workflow?.steps.find(({ stepId }) => stepId === subject.stepId);
  const run = step?.checks?.find((check) => check.checkId === checkId)?.run;
  // Older records do not name the command. The workflow does, unless values were put into it.
  const isWritten = statement.command === undefined && run?.includes('{{') === true;
  const command = statement.command ?? run;
  const said = `${isWritten ? `${WITH_VALUES} ` : ''}${checkRunWords(statement, by, files)}`;
  const words = [said, ...timeWords(at)].join(', ');
  return { kind: 'check', about: subject.stepId, checkId, ...defined({ command }), words };
}

function timeWords(at: number | undefined): readonly string[] {
  return at === undefined ? [] : [utcMinute(at)];
}

/** The newest run of each check of a pending step, which is the one that counts. */
export function dueRuns(view: SessionView, nodeId: NodeId): readonly Attestation[] {
  return [...runsBefore(view, nodeId, Number.POSITIVE_INFINITY).values()];
}

/** The newest run of each check at the attempts of a step that a node belongs to, up to an event. */
export function runsBefore(view: SessionView, nodeId: NodeId, before: number): ReadonlyMap<string, Attestation> {
  return view.attestations.size === 0 ? new Map() : newestRuns(saidBefore(view, nodeId, before));
}

function newestRuns(said: readonly Attestation[]): ReadonlyMap<string, Attestation> {
  return new Map(
    said.flatMap((event) => (event.data.statement.kind === 'check' ? [[event.data.statement.checkId, event]] : [])),
  );
}

/** The checks of a line, each with what its newest run showed in that round. */
export function checksWithRuns(
  checks: readonly RecordedCheck[],
  evidence: readonly EvidenceLine[],
): readonly { readonly check: RecordedCheck; readonly run: EvidenceLine | undefined }[] {
  const rounds = new Map<string, number>();
  return checks.map((check) => {
    const { stepId, checkId } = check;
    const name = `${stepId}#${checkId}`;
    const round = rounds.get(name) ?? 0;
    rounds.set(name, round + 1);
    const isOf = (one: EvidenceLine) => one.about === stepId && one.checkId === checkId && one.round === round;
    return { check, run: evidence.find(isOf) };
  });
}

/** A check with its grade, and what its newest run showed. */
export function checkWords(check: Omit<RecordedCheck, 'stepId'>, run: EvidenceLine | undefined): string {
  const grade = `${quote(check.checkId)}: ${gradeOf(check)}`;
  return run === undefined ? grade : `${grade}, ${evidenceWords(run, COMMAND_BYTES_MAX)}`;
}

/** The same where there is little room: how the command ended comes before the command, which may be cut. */
function briefCheckWords(check: Omit<RecordedCheck, 'stepId'>, run: EvidenceLine | undefined): string {
  const grade = `${quote(clip(check.checkId, BRIEF_ID_BYTES_MAX))}: ${gradeOf(check)}`;
  if (run === undefined) return grade;
  const command = run.command === undefined ? '' : `: ${commandText(run.command)}`;
  return `${grade}, ${run.words}${command}`;
}

const BRIEF_ID_BYTES_MAX = 40;
const STANDING_MAX = 6;

/**
 * The gaps that nobody may overlook, the checks of the steps that were done and of the pending one, each with its grade, the other
 * open gaps, and what the agent decided alone: what somebody who decides about the pending step has to know besides its draft.
 */
export function standingLines(
  view: SessionView,
  at: {
    readonly nodeId: NodeId;
    /** How the checks of the pending step stand. */
    readonly due: readonly Omit<RecordedCheck, 'stepId'>[];
    readonly gaps: readonly GapRecord[];
    readonly workflow: CompiledWorkflow;
    /** The digest of the files that the draft is about, where git can list them. */
    readonly files?: string | undefined;
  },
): {
  readonly standing: readonly string[];
  /** The same for where lines are cut at their end. */
  readonly standingBrief: readonly string[];
} {
  const { nodeId, due, gaps, workflow, files } = at;
  const done = evidenceOnLine(view, nodeId, { workflow, files });
  const pending = evidenceBefore(view, { nodeId, end: 'pending', workflow, files });
  const checks: readonly { readonly check: Omit<RecordedCheck, 'stepId'>; readonly run: EvidenceLine | undefined }[] = [
    ...checksWithRuns(checksOnLine(view, nodeId), done),
    ...due.map((check) => ({ check, run: pending.find(({ checkId }) => checkId === check.checkId) })),
  ];
  const gapLines = (severity: GapRecord['data']['severity']) =>
    gaps
      .filter(({ data }) => data.severity === severity)
      .map(({ data }) =>
        severity === 'info'
          ? `Decided by the agent: ${gapText(data.summary)}`
          : `Open gap (${severity}): ${gapText(data.summary)}`,
      );
  const lines = (words: typeof checkWords) => [
    ...shortened(gapLines('critical'), 'critical open gap'),
    ...shortened(
      checks.map(({ check, run }) => `Evidence for check ${words(check, run)}`),
      'check',
    ),
    ...shortened(gapLines('warning'), 'open gap'),
    ...shortened(gapLines('info'), "agent's decision"),
  ];
  const shown = (words: typeof checkWords) => lines(words).map((line) => visibleLine(line));
  return { standing: shown(checkWords), standingBrief: shown(briefCheckWords) };
}

function shortened(lines: readonly string[], noun: string): readonly string[] {
  const more = lines.length - STANDING_MAX;
  return more <= 0 ? lines : [...lines.slice(0, STANDING_MAX), `and ${plural(more, `more ${noun}`)}`];
}
