import { err, ok, type Result } from 'neverthrow';
import { pendingStep } from '../../core/log/execution-snapshot.ts';
import type { NodeId, RunId } from '../../core/log/ids.ts';
import { attemptDigest, type Signer, signersOf } from '../../core/run/gate-facts.ts';
import { approvalQuestion } from '../../core/run/requirements/user.ts';
import { dueConfirmation, type StepPlace } from '../../core/run/step-place.ts';
import { loopVariablesAt } from '../../core/run/walk/walking.ts';
import type { TokenRefusal } from '../../core/token/token-refusal.ts';
import { type Attestation, isTakenBack } from '../../core/views/attestations.ts';
import { contextAt } from '../../core/views/lineage.ts';
import { currentOutputs } from '../../core/views/node-facts.ts';
import { nodeOf, type RunNode } from '../../core/views/run-graph.ts';
import type { GATE_PROBLEMS } from '../../core/wire/approval-shapes.ts';
import type { CompiledStep } from '../../core/workflow/compiled/compiled-step.ts';
import type { ApprovalRefusal, KnownApprovers } from '../ports/approvers.ts';
import type { LoadedSession } from '../ports/session-store.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { AnswerServices } from '../services.ts';
import { gateOf } from './attempt-facts.ts';
import { runPlace, targetOf } from './run-place.ts';
import { isMaker, triedStep } from './tried-step.ts';

/** What signatures show about a step that was done, and that only a signed answer should have let pass. */
export type GateVerdict = {
  readonly runId: RunId;
  /** The node that doing the step created. */
  readonly nodeId: NodeId;
  readonly stepId: string;
  readonly title: string;
  /** The people of the list who signed exactly what was handed in. */
  readonly signers: readonly Signer[];
  /** Why there are not enough of them. */
  readonly problem?: GateProblem;
  /** The commit that was signed. */
  readonly headSha?: string;
  /** The signatures cover no files, although the step requires it. */
  readonly filesCovered?: false;
};

type GateProblem = (typeof GATE_PROBLEMS)[number];

export type VerifyApprovals = {
  readonly known: Pick<KnownApprovers, 'signer'>;
  /** How many different people must have signed. */
  readonly needed: 1 | 2;
};

/**
 * Checks, from the log alone and against a list of keys, that every step that needed a signed answer got one about exactly
 * what it handed in. The digest is computed again: a draft that was changed after the signature has another one.
 */
export async function verifyApprovals(
  services: AnswerServices,
  session: LoadedSession,
  how: VerifyApprovals,
): Promise<Result<readonly GateVerdict[], PlaceRefusal>> {
  const verdicts: GateVerdict[] = [];
  for (const node of session.view.graph.nodes.values()) {
    if (node.kind !== 'step' || node.parentNodeId === null) continue;
    const found = await doneStep(services, session, node);
    if (found.isErr()) return err(found.error);
    if (found.value !== undefined) verdicts.push(judge(services, session, { ...found.value, node, how }));
  }
  return ok(verdicts);
}

type PlaceRefusal = TokenRefusal | StoreFailure;

type DoneStep = {
  readonly step: CompiledStep;
  /** What people were asked about it. */
  readonly questions: readonly Question[];
  /** The node at which the step was due. */
  readonly own: RunNode;
  readonly loopPath: NonNullable<ReturnType<typeof pendingStep>>['loopPath'];
};

/** The step that led to a node, if only a signed answer should have let it pass. */
async function doneStep(
  services: AnswerServices,
  session: LoadedSession,
  node: RunNode,
): Promise<Result<DoneStep | undefined, PlaceRefusal>> {
  const own = triedStep(session.view, node.parentNodeId as NodeId).step;
  const read = await runPlace(services, session, targetOf(session, own.nodeId));
  if (read.isErr()) return err(read.error);
  const { index, snapshot, facts } = read.value;
  const pending = pendingStep(snapshot);
  const step = index.steps.get(pending?.stepId ?? '');
  if (step === undefined || gateOf(step, 'stated')?.assurance !== 'signed') return ok(undefined);
  const loopVariables = loopVariablesAt(index, snapshot.enginePayload.state);
  const context = contextAt(session.view.context, node.nodeId);
  const questions = questionsOf({ index, step, facts: { ...facts, context }, loopVariables });
  return ok(questions.length === 0 ? undefined : { step, questions, own, loopPath: pending?.loopPath ?? [] });
}

function judge(
  { hasher: { sha256 } }: AnswerServices,
  { view }: LoadedSession,
  at: DoneStep & { readonly node: RunNode; readonly how: VerifyApprovals },
): GateVerdict {
  const { step, questions, own, loopPath, node, how } = at;
  const answers = answersBefore(view, own, node);
  const outputs = currentOutputs(view.outputs, node.nodeId);
  const handedIn = {
    notesMarkdown: outputs.flatMap(({ data }) =>
      data.outputChannel === 'recap' ? [data.payload.notesMarkdown] : [],
    )[0],
    artifacts: outputs.flatMap(({ data }) => (data.outputChannel === 'artifact' ? [{ ref: data.payload }] : [])),
  };
  const context = contextAt(view.context, node.nodeId);
  const subject = {
    workflowHash: own.workflowHash,
    runId: own.runId,
    nodeId: own.nodeId,
    stepId: step.stepId,
    loopPath,
    snapshotRef: own.snapshotRef,
    contextBefore: contextAt(view.context, own.nodeId),
  };
  const isAboutThis = ({ subject: said }: Attestation['data'], asked: Question) => {
    if (said.kind !== 'attempt') return false;
    const bound = { ...subject, ...(said.workspace === undefined ? {} : { workspace: said.workspace }) };
    return attemptDigest({ subject: bound, sha256 }, { handedIn, context, ...asked }) === said.digest;
  };
  const head = { runId: node.runId, nodeId: node.nodeId, stepId: step.stepId, title: step.title };
  const verdicts = questions.map((asked) =>
    verdictOn(
      answers.map(({ data, isTakenBack }) => ({
        data,
        isAboutThis: !isTakenBack && isAboutThis(data, asked),
        isByMaker: isMaker(view, { nodeId: own.nodeId, before: node.createdIndex }, data.by.principal),
      })),
      how,
    ),
  );
  const worst = verdicts.find(({ problem }) => problem !== undefined) ?? verdicts[0];
  if (worst === undefined) return { ...head, signers: [], problem: 'nobody_answered' };
  const isUncovered = worst.problem === undefined && worst.headSha === undefined && step.bindsTree !== false;
  return { ...head, ...worst, ...(isUncovered ? { filesCovered: false } : {}) };
}

type Question = { readonly question: string; readonly gateKey?: string | undefined };

/** What people were asked about a step at its place. */
function questionsOf(place: StepPlace): readonly Question[] {
  const { step } = place;
  const { userDependency } = step;
  return [
    ...(dueConfirmation(place) === 'human_approval' ? [{ question: approvalQuestion({ step }) }] : []),
    ...(userDependency === undefined ? [] : [{ question: userDependency.prompt, gateKey: userDependency.contextKey }]),
  ];
}

type Judged = {
  readonly data: Attestation['data'];
  readonly isAboutThis: boolean;
  /** Who signed in to give it owns the run or sent an attempt at the step. */
  readonly isByMaker: boolean;
};

function verdictOn(
  answers: readonly Judged[],
  { known, needed }: VerifyApprovals,
): Pick<GateVerdict, 'signers' | 'problem' | 'headSha'> {
  const signed = answers.filter(({ data }) => known.signer(data).isOk());
  const about = signed.filter(({ isAboutThis }) => isAboutThis);
  const counting = about.filter(({ isByMaker }) => needed === 1 || !isByMaker).map(({ data }) => data);
  const signer = (data: Attestation['data']): Signer | undefined =>
    known
      .signer(data)
      .map(({ name, key: { fingerprint } }) => ({ name, fingerprint }))
      .unwrapOr(undefined);
  const signing = { signer, approvers: [], needed, hasUnsigned: false, problems: [] };
  const newest = counting.at(-1)?.subject;
  const signers = newest?.kind === 'attempt' ? signersOf({ attestations: counting, signing }, newest.digest) : [];
  const headSha = newest?.kind === 'attempt' ? newest.workspace?.headSha : undefined;
  if (signers.length >= needed) return { signers, ...(headSha === undefined ? {} : { headSha }) };
  if (about.length > 0) return { signers, problem: 'too_few' };
  return { signers, problem: signed.length > 0 ? 'another_draft' : problemOf(answers, known) };
}

function problemOf(answers: readonly Judged[], known: VerifyApprovals['known']): GateProblem {
  const newest = answers.at(-1);
  if (newest === undefined) return 'nobody_answered';
  const why: ApprovalRefusal['code'] = known.signer(newest.data)._unsafeUnwrapErr().code;
  if (why === 'not_signed' || why === 'approver_unknown') return why;
  return 'signature_invalid';
}

/** What people said about attempts at a step before it was done. */
function answersBefore(
  view: LoadedSession['view'],
  own: RunNode,
  { createdIndex }: RunNode,
): readonly { readonly data: Attestation['data']; readonly isTakenBack: boolean }[] {
  const found: Attestation[] = [];
  const around = [own];
  // The list grows while it is walked: attempts hang on each other.
  for (const { children } of around) {
    for (const child of children.map((id) => nodeOf(view.graph, id))) {
      if (child.kind === 'step') continue;
      around.push(child);
      found.push(...(view.attestations.get(child.nodeId) ?? []));
    }
  }
  const answers = found
    .filter(({ data, eventIndex }) => data.subject.kind === 'attempt' && eventIndex < createdIndex)
    .sort((a, b) => a.eventIndex - b.eventIndex);
  return answers
    .filter(({ data }) => data.statement.kind !== 'rejected')
    .map((answer) => ({ data: answer.data, isTakenBack: isTakenBack(answers, answer) }));
}
