import { defined, quote } from '../json/json-value.ts';
import type { NodeId } from '../log/ids.ts';
import { draftCode } from '../run/gate-facts.ts';
import { utcMinute } from '../text/utc-time.ts';
import { clip, utf8Length } from '../text/utf8.ts';
import type { CompiledWorkflow } from '../workflow/compiled/compiled-workflow.ts';
import { type Attestation, attestationWords, checkRunWords, commandText } from './attestations.ts';
import { type AdvanceRecord, gapsOfRun } from './node-facts.ts';
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

/** A check with its grade, as people and agents read it. */
export function gradeWords(check: Omit<RecordedCheck, 'stepId'>): string {
  return `${quote(check.checkId)} is ${gradeOf(check)}`;
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

/** The evidence of all steps that were done on the way to a node, oldest first. */
export function evidenceOnLine(
  view: SessionView,
  nodeId: NodeId,
  workflow: CompiledWorkflow | undefined,
): readonly EvidenceLine[] {
  const line: (readonly EvidenceLine[])[] = [];
  for (let id: NodeId | null = nodeId; id !== null; id = nodeOf(view.graph, id).parentNodeId) {
    line.push(evidenceAt(view, id, workflow));
  }
  return line.reverse().flat();
}

/** What was said and shown about the step that led to a node; of several runs of a check the newest, which counts. */
export function evidenceAt(
  view: SessionView,
  nodeId: NodeId,
  workflow: CompiledWorkflow | undefined,
): readonly EvidenceLine[] {
  const { kind, parentNodeId, createdIndex, runId } = nodeOf(view.graph, nodeId);
  if (kind !== 'step' || parentNodeId === null) return [];
  const isPassed = gapsOfRun(view.gaps, runId).some(
    ({ scope, data }) => scope.nodeId === nodeId && data.details?.['passedBy'] !== undefined,
  );
  return evidenceBefore(view, {
    nodeId: parentNodeId,
    before: createdIndex,
    end: isPassed ? 'passed' : 'done',
    workflow,
  });
}

/** The evidence for an attempt that gets the step done now, or for one that is still pending. */
export function evidenceBefore(
  view: SessionView,
  at: {
    /** The node at which the attempt is made. */
    readonly nodeId: NodeId;
    readonly before?: number;
    /** Whether the step was done; `passed`: without an answer, so that none counted. */
    readonly end: 'done' | 'passed' | 'pending';
    readonly workflow: CompiledWorkflow | undefined;
  },
): readonly EvidenceLine[] {
  const { nodeId, before = Number.POSITIVE_INFINITY, end, workflow } = at;
  const said = saidBefore(view, nodeId, before);
  const answers = said.filter(({ data }) => data.subject.kind === 'attempt');
  const counted = end === 'done' ? countedAnswer(view, nodeId, answers) : undefined;
  const newest = new Map(
    said.flatMap((event) => (event.data.statement.kind === 'check' ? [[event.data.statement.checkId, event]] : [])),
  );
  return [
    ...answers.map((event): EvidenceLine => {
      const use = end === 'pending' ? [] : [event === counted ? 'this answer counted' : 'this answer did not count'];
      return { kind: 'answer', about: askedAbout(view, event), words: [answerWords(event), ...use].join(', ') };
    }),
    ...[...newest.values()].flatMap((event) => checkLine(event, workflow)),
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

function checkLine({ data, at }: Attestation, workflow: CompiledWorkflow | undefined): readonly EvidenceLine[] {
  const { subject, statement, by } = data;
  if (subject.kind !== 'step' || statement.kind !== 'check') return [];
  const { checkId } = statement;
  const step = workflow?.steps.find(({ stepId }) => stepId === subject.stepId);
  const run = step?.checks?.find((check) => check.checkId === checkId)?.run;
  // Older records do not name the command. The workflow does, unless values were put into it.
  const isWritten = statement.command === undefined && run?.includes('{{') === true;
  const command = statement.command ?? run;
  const said = `${isWritten ? `${WITH_VALUES} ` : ''}${checkRunWords(statement, by)}`;
  const words = [said, ...timeWords(at)].join(', ');
  return [{ kind: 'check', about: subject.stepId, checkId, ...defined({ command }), words }];
}

function timeWords(at: number | undefined): readonly string[] {
  return at === undefined ? [] : [utcMinute(at)];
}

/** A check with its grade, and what its newest run showed. */
export function checkWords(check: Omit<RecordedCheck, 'stepId'>, evidence: readonly EvidenceLine[]): string {
  const run = evidence.find(({ checkId }) => checkId === check.checkId);
  return run === undefined ? gradeWords(check) : `${gradeWords(check)}: ${evidenceWords(run, COMMAND_BYTES_MAX)}`;
}
