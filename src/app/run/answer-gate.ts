import { err, ok, type Result, safeTry } from 'neverthrow';
import type { Flow } from '../../core/flow.ts';
import { isObject, type JsonObject, type JsonValue } from '../../core/json/json-value.ts';
import { type DraftOf, type EventDraft, placeEvents } from '../../core/log/event.ts';
import {
  type AttestationId,
  attemptIdSchema,
  ContextId,
  derivedBits,
  type NodeId,
  type RunId,
  type SessionId,
} from '../../core/log/ids.ts';
import { isGate, judgeAttempt } from '../../core/run/decide/judge-attempt.ts';
import {
  type ChangedFile,
  contextChange,
  describedAt,
  isSeen,
  signersOf,
  type VoidedApproval,
  voidedOf,
} from '../../core/run/gate-facts.ts';
import type { HandedIn } from '../../core/run/step-place.ts';
import { type UnseenFiles, unseenCause, unseenFix } from '../../core/run/unseen-files.ts';
import type { GateSettings } from '../../core/settings/settings-in-effect.ts';
import { visibleLine } from '../../core/text/visible-text.ts';
import { type Attestation, answerTo, unusedAnswers } from '../../core/views/attestations.ts';
import { standingLines } from '../../core/views/line-checks.ts';
import { nodeOf } from '../../core/views/run-graph.ts';
import { blockersAt } from '../../core/views/run-status.ts';
import type { CompiledStep } from '../../core/workflow/compiled/compiled-step.ts';
import type { ApprovalRefusal } from '../ports/approvers.ts';
import type { LoadedSession } from '../ports/session-store.ts';
import type { GitPatience } from '../ports/workspace-observer.ts';
import type { AnswerServices } from '../services.ts';
import { type AdvanceRefusal, attemptAt } from './advance.ts';
import { type GateSurroundings, gateOf, gateSurroundings, type KnownSigners } from './attempt-facts.ts';
import { earlierRejection } from './earlier-rejection.ts';
import { appendPlan } from './give-reply.ts';
import { rootOf, settingsFolders, targetOf } from './run-place.ts';
import { type HandedTo, isMaker } from './tried-step.ts';

/** A draft that waits for a person's answer. */
export type WaitingDraft = {
  readonly sessionId: SessionId;
  readonly runId: RunId;
  /** The blocked attempt that holds the draft. */
  readonly nodeId: NodeId;
  readonly step: CompiledStep;
  readonly digest: string;
  /** Four letters by which a person recognises the draft. */
  readonly code: string;
  readonly question: string;
  /** The context key that the answer goes into; without one, the person approves or rejects. */
  readonly contextKey: string | undefined;
  /** Exactly what the advance would attach. */
  readonly draft: HandedIn & {
    /** The values that the step would change in the context. */
    readonly context: JsonObject;
  };
  /** How well the checks of the run are known and what is missing, as lines. A person decides with this in view. */
  readonly standing: readonly string[];
  readonly standingBrief: readonly string[];
  /** The newest answer about it. Until the step is done, another one takes its place. */
  readonly answer: Attestation['data'] | undefined;
  /** An approval of an earlier draft, which does not count for this one. */
  readonly voided: VoidedApproval | undefined;
  /** What was rejected at this step before this draft, in words. */
  readonly rejected: string | undefined;
  /** What the run is for, and the workflow with where it comes from. */
  readonly goal: string | undefined;
  readonly workflow: string;
  /** Who started the run, where people sign in. */
  readonly owner: string | undefined;
  /** Whether a later change of files in the workspace ends an approval. */
  readonly areFilesBound: boolean;
  /** The agent's machine described them: this process has not seen them. */
  readonly areFilesDescribed: boolean;
  /** The reason why git cannot list the files that the answer should depend on. */
  readonly unseen: UnseenFiles | undefined;
  /** The files as the digest names them. */
  readonly workspace: { readonly headSha: string; readonly treeDigest: string } | undefined;
  /** What the answer needs besides the channel, where it must be signed. */
  readonly signing: WaitingSignature | undefined;
  /** The bound files that differ from the last commit. */
  readonly changedFiles: readonly ChangedFile[];
  /** The folder that the files are in, whose approvers count. */
  readonly root: string | undefined;
  /** The folders whose settings count. */
  readonly folders: readonly string[];
  /** The channels on which an answer counts. */
  readonly accept: GateSettings['accept'];
};

/** Whose signatures a draft waits for. */
export type WaitingSignature = Pick<KnownSigners, 'approvers' | 'needed' | 'problems'> & {
  /** Who has signed already. */
  readonly signers: readonly string[];
};

/** The same services, with another limit for git than the one that what is recorded asks for. */
export function withPatience(services: AnswerServices, patience: GitPatience): AnswerServices {
  const { workspace } = services;
  return {
    ...services,
    workspace: { ...workspace, tree: (root, _, isEveryByteRead) => workspace.tree(root, patience, isEveryByteRead) },
  };
}

export type AnswerRefusal =
  /** Nothing waits for an answer at this node. */
  | { readonly code: 'not_waiting' }
  /** The step went on; an answer has no effect any more. */
  | { readonly code: 'already_used' }
  /** The settings do not let answers on this channel count. */
  | { readonly code: 'channel_not_accepted'; readonly accept: GateSettings['accept'] }
  /** Only a signed answer opens this gate. */
  | { readonly code: 'signature_needed'; readonly approvers: readonly string[] }
  /** The signature does not count, for this reason. */
  | { readonly code: 'signature_refused'; readonly why: ApprovalRefusal | { readonly code: 'not_known_at_start' } }
  /** Git cannot list the files, so a signature would not cover them. */
  | { readonly code: 'files_unknown'; readonly unseen: UnseenFiles }
  /** Four eyes are asked for, and this is the person's own run or draft. */
  | { readonly code: 'own_draft' }
  /** What would be approved is no longer what was shown. */
  | { readonly code: 'draft_changed'; readonly waiting: WaitingDraft }
  | AdvanceRefusal;

/** What a person answered, and how the answer reached us. */
export type PersonAnswer = {
  readonly attestationId: AttestationId;
  readonly digest: string;
  readonly statement:
    | { readonly kind: 'approved' | 'rejected'; readonly comment?: string; readonly shown: 'whole' | 'part' }
    | {
        readonly kind: 'answered';
        readonly value?: JsonValue;
        readonly comment?: string;
        readonly shown: 'whole' | 'part';
      };
  readonly by: DraftOf<'attestation_recorded'>['data']['by'];
  /** An approver's signature over `signedParts`. */
  readonly signature?: Attestation['data']['signature'] | undefined;
};

/** What an answer is about, and what is signed with the statement: the draft by its digest, and the files that the digest names. */
export function signedSubject({ digest, workspace }: Pick<WaitingDraft, 'digest' | 'workspace'>): AttemptSubject {
  const names = workspace === undefined ? {} : { workspace };
  return { kind: 'attempt', digest, ...names } as AttemptSubject;
}

type AttemptSubject = Extract<Attestation['data']['subject'], { kind: 'attempt' }>;

type BlockedNode = { readonly sessionId: SessionId; readonly nodeId: NodeId };

/** What waits for an answer at a blocked attempt: the draft as an empty retry from there would attach it. */
export async function findWaitingDraft(
  services: AnswerServices,
  session: LoadedSession,
  nodeId: NodeId,
): Promise<Result<WaitingDraft, AnswerRefusal>> {
  return waitingAt(services, session, { nodeId, surroundings: await surroundingsAt(services, session, nodeId) });
}

/** What a gate depends on; the files as they were described with the block, where nobody here can look at them. */
async function surroundingsAt(
  services: AnswerServices,
  session: LoadedSession,
  nodeId: NodeId,
): Promise<GateSurroundings> {
  const surroundings = await gateSurroundings(services, session, targetOf(session, nodeId));
  if (services.workspace.isElsewhere === undefined) return surroundings;
  const block = blockersAt(session.view, nodeId).find(isGate);
  return { ...surroundings, workspace: describedAt(block?.details) };
}

async function waitingAt(
  services: AnswerServices,
  session: LoadedSession,
  { nodeId, surroundings }: { readonly nodeId: NodeId; readonly surroundings: GateSurroundings },
): Promise<Result<WaitingDraft, AnswerRefusal>> {
  return safeTry(async function* (): Flow<WaitingDraft, AnswerRefusal> {
    const node = nodeOf(session.view.graph, nodeId);
    if (node.hasStepBelow) return err({ code: 'already_used' });
    if (node.kind !== 'blocked_attempt') return err({ code: 'not_waiting' });
    const target = targetOf(session, nodeId);
    const attemptId = attemptIdSchema.parse(0);
    const sent = { handedIn: { notesMarkdown: undefined, artifacts: [] }, context: {} };
    const { attempt } = yield* await attemptAt(services, session, { target, attemptId, surroundings, sent });
    // As if nobody had answered: an answer that was given can still be changed.
    const gateOnly = attempt.gate && { ...attempt.gate, accept: [], personKeys: [] };
    const verdict = judgeAttempt({ ...attempt, gate: gateOnly });
    const { filled } = verdict.check;
    // In never-stop mode only gates block, and what else is missing is recorded as gaps.
    const blocking = verdict.kind === 'blocked' ? verdict.unmet : [];
    const gate = blocking.find(isGate);
    const step = attempt.index.steps.get(attempt.gate?.subject.stepId ?? '');
    const approval = gate && approvalOf(gate);
    // Something else is missing too: the draft will change before anybody can approve it.
    if (step === undefined || approval === undefined || !blocking.every(isGate)) {
      return err({ code: 'not_waiting' });
    }
    const { contextKey } = gateOf(step, surroundings.minimum) ?? {};
    const before = attempt.gate?.subject.contextBefore ?? {};
    const workspace = attempt.gate?.subject.workspace;
    const bound = isSeen(workspace) ? workspace : undefined;
    const { signing } = attempt.gate ?? {};
    const signers = attempt.gate === undefined ? [] : signersOf(attempt.gate, approval.digest);
    const own = attempt.gate?.subject.nodeId ?? nodeId;
    const { source } = attempt.facts;
    const goal = attempt.facts.context['goal'];
    return ok({
      sessionId: session.sessionId,
      runId: node.runId,
      nodeId,
      step,
      ...approval,
      question: step.userDependency?.prompt ?? step.title,
      contextKey,
      draft: { ...filled, context: contextChange(before, attempt.facts.context, contextKey) },
      ...standingLines(session.view, {
        nodeId,
        due: verdict.check.checks,
        gaps: attempt.openGaps,
        workflow: attempt.index.workflow,
        files: bound?.treeDigest,
      }),
      answer: answerSoFar(session.view, { nodeId, own, ...approval }),
      root: rootOf(session),
      folders: settingsFolders(session, node.runId),
      accept: surroundings.accept,
      voided: voidedOf(gate?.details),
      rejected: earlierRejection(session.view, { own, digest: approval.digest, details: gate?.details }),
      goal: typeof goal === 'string' && goal.trim() !== '' ? goal : undefined,
      workflow: [attempt.index.workflow.name, ...(source === undefined ? [] : [`(${source})`])].join(' '),
      owner: session.view.graph.runs.get(node.runId)?.owner,
      areFilesBound: bound !== undefined,
      areFilesDescribed: bound?.isDescribed === true,
      unseen: workspace === undefined || isSeen(workspace) ? undefined : workspace,
      changedFiles: bound?.changed ?? [],
      workspace: bound && { headSha: bound.headSha, treeDigest: bound.treeDigest },
      signing: signing && {
        approvers: signing.approvers,
        needed: signing.needed,
        problems: signing.problems,
        signers: signers.map(({ name }) => name),
      },
    });
  });
}

/**
 * The newest answer about a draft. A rejection of what the agent handed in stays one until the agent hands in something
 * else: files that changed meanwhile make another draft, but nobody asks about it.
 */
function answerSoFar(
  view: LoadedSession['view'],
  { nodeId, own, digest }: { readonly nodeId: NodeId; readonly own: NodeId; readonly digest: string },
): WaitingDraft['answer'] {
  const answers = unusedAnswers(view, own);
  const block = blockersAt(view, nodeId).find(isGate);
  const handedIn = answerTo(answers, (block && approvalOf(block)?.digest) ?? digest)?.data;
  const rejection = handedIn?.statement.kind === 'rejected' ? handedIn : undefined;
  return answerTo(answers, digest)?.data ?? rejection;
}

const STATUS_LINES_MAX = 10;

/** Which files of the work tree an answer depends on, as lines. Both channels show the same. */
export function boundFileLines(waiting: WaitingDraft): readonly string[] {
  const { areFilesBound, areFilesDescribed, unseen, changedFiles, signing } = waiting;
  const now = areFilesDescribed ? "as the agent's machine described them" : 'as they are now';
  if (unseen !== undefined) {
    const cause = unseenCause(unseen);
    const unbound = `This answer will not cover the files, because ${cause}. If files change while git cannot list them, the answer still counts.`;
    return [signing === undefined ? unbound : `Nobody can sign, because ${cause}.`, unseenFix(unseen)];
  }
  if (!areFilesBound) return ['The answer does not depend on the files of the workspace.'];
  if (changedFiles.length === 0) {
    return [`The answer counts only for the files ${now} (no changes since the last commit).`];
  }
  const more = changedFiles.length - STATUS_LINES_MAX;
  return [
    `The answer counts only for the files ${now}. Changed since the last commit:`,
    ...changedFiles.slice(0, STATUS_LINES_MAX).map(({ state, path }) => `  ${state} ${visibleLine(path)}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

/** The digest and code that a block shows. */
export function approvalOf({
  details,
}: {
  readonly details?: JsonObject | undefined;
}): { readonly digest: string; readonly code: string } | undefined {
  const approval = details?.['approval'];
  if (!isObject(approval)) return undefined;
  const { digest, code } = approval as { readonly digest?: unknown; readonly code?: unknown };
  return typeof digest === 'string' && typeof code === 'string' ? { digest, code } : undefined;
}

/**
 * Records a person's answer to exactly what was shown. The newest answer about a draft counts until the step is done;
 * the same answer recorded twice is one.
 */
export async function answerGate(
  services: AnswerServices,
  at: BlockedNode,
  answer: PersonAnswer,
): Promise<Result<WaitingDraft, AnswerRefusal>> {
  const loaded = await services.sessions.load(at.sessionId);
  if (loaded.isErr()) return err(loaded.error.code === 'session_not_found' ? { code: 'not_waiting' } : loaded.error);
  const surroundings = await surroundingsAt(services, loaded.value, at.nodeId);
  return services.sessions.exclusively<WaitingDraft, AnswerRefusal>(
    at.sessionId,
    async (session, permit) => {
      if (session === undefined) return err({ code: 'not_waiting' });
      const found = await waitingAt(services, session, { nodeId: at.nodeId, surroundings });
      if (found.isErr()) return err(found.error);
      const waiting = found.value;
      if (waiting.digest !== answer.digest) return err({ code: 'draft_changed', waiting });
      const { accept } = waiting;
      if (!accept.includes(answer.by.via)) return err({ code: 'channel_not_accepted', accept });
      const { isFourEyes, handedTo } = surroundings;
      const place = { nodeId: at.nodeId, handedTo };
      if (isFourEyes && isOwnDraft(session, place, answer)) return err({ code: 'own_draft' });
      const refused = await signatureProblem(services, { waiting, answer, surroundings });
      if (refused !== undefined) return err(refused);
      const { sha256 } = services.hasher;
      const placement = {
        sessionId: at.sessionId,
        firstEventIndex: session.view.nextEventIndex,
        at: services.clock.nowMs(),
        by: services.by,
      };
      const events = placeEvents(answerDrafts(waiting, answer, sha256), placement, sha256);
      const plan = { sessionId: at.sessionId, events, snapshots: new Map(), artifacts: new Map() };
      return (await appendPlan(services.sessions, permit, plan)).map(() => waiting);
    },
    { mustExist: true },
  );
}

/** Whether somebody approves what they or their agent made. Keeping one's own gate closed is always allowed. */
function isOwnDraft(
  { view }: LoadedSession,
  place: { readonly nodeId: NodeId; readonly handedTo: HandedTo | undefined },
  { statement, by }: PersonAnswer,
): boolean {
  return statement.kind !== 'rejected' && isMaker(view, place, by.principal);
}

/** Why an answer must not be recorded as it is: what must be signed is not, or a signature does not count. */
async function signatureProblem(
  services: AnswerServices,
  at: { readonly waiting: WaitingDraft; readonly answer: PersonAnswer; readonly surroundings: GateSurroundings },
): Promise<AnswerRefusal | undefined> {
  const { waiting, answer, surroundings } = at;
  const { signing, unseen, root } = waiting;
  const isUnsignable = answer.statement.kind === 'rejected' || answer.by.via === 'rehearsal';
  if (answer.signature === undefined) {
    return signing === undefined || isUnsignable
      ? undefined
      : { code: 'signature_needed', approvers: signing.approvers };
  }
  if (unseen !== undefined) return { code: 'files_unknown', unseen };
  const known = await services.approvers?.(root);
  const data = attested(waiting, answer);
  const found = known?.signer(data) ?? err<never, ApprovalRefusal>({ code: 'not_signed' });
  if (found.isErr()) return { code: 'signature_refused', why: found.error };
  const counts = surroundings.signing === undefined || surroundings.signing.signer(data) !== undefined;
  return counts ? undefined : { code: 'signature_refused', why: { code: 'not_known_at_start' } };
}

function attested(waiting: WaitingDraft, answer: PersonAnswer): Attestation['data'] {
  const { attestationId, statement, by, signature } = answer;
  // Without a signature too: a merge gate asks which files an answer is about.
  const subject = signedSubject(waiting);
  return { attestationId, subject, statement, by, ...(signature === undefined ? {} : { signature }) };
}

function answerDrafts(
  waiting: WaitingDraft,
  answer: PersonAnswer,
  sha256: AnswerServices['hasher']['sha256'],
): readonly EventDraft[] {
  const { runId, nodeId, contextKey } = waiting;
  const { attestationId, statement } = answer;
  const scope = { runId, nodeId };
  const answered = attested(waiting, answer);
  const said: DraftOf<'attestation_recorded'> = { kind: 'attestation_recorded', scope, data: answered };
  if (statement.kind !== 'answered' || contextKey === undefined || statement.value === undefined) return [said];
  const contextId = ContextId.of(derivedBits([attestationId], sha256));
  const data = { contextId, context: { [contextKey]: statement.value }, source: 'person' } as const;
  return [said, { kind: 'context_set', scope, data }];
}
