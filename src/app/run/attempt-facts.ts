import { err, ok, type Result } from 'neverthrow';
import type { Approver } from '../../core/approvals/approver-list.ts';
import { canonicalBytes, type JsonRefusal } from '../../core/json/canonical-json.ts';
import { isObject, type JsonObject, ownValue, quote } from '../../core/json/json-value.ts';
import type { Assurance } from '../../core/log/autonomy.ts';
import { pendingStep } from '../../core/log/execution-snapshot.ts';
import { type ArtifactDigest, artifactDigestSchema, type NodeId } from '../../core/log/ids.ts';
import { type ArtifactRefusal, checkArtifacts } from '../../core/log/operation/operation-drafts.ts';
import type { WarningFact } from '../../core/prompt/warning-facts.ts';
import { checkedLengthMax } from '../../core/run/condition/evaluate-criteria.ts';
import { isGate } from '../../core/run/decide/judge-attempt.ts';
import type { CheckRecord, EvidenceFacts } from '../../core/run/evidence/judge-check.ts';
import { withoutKeys } from '../../core/run/form/unfilled.ts';
import {
  type BoundWorkspace,
  type GateFacts,
  isBoundToFiles,
  type SigningFacts,
  strongestAssurance,
} from '../../core/run/gate-facts.ts';
import type { HandedArtifact, HandedIn } from '../../core/run/step-place.ts';
import type { TokenTarget } from '../../core/token/node-token.ts';
import { type Attestation, unusedAnswers } from '../../core/views/attestations.ts';
import { contextAt, isKeyFromPerson } from '../../core/views/lineage.ts';
import { autonomyPrincipalAt, blockedDraft, currentObservation, type NodeOutput } from '../../core/views/node-facts.ts';
import type { RunNode } from '../../core/views/run-graph.ts';
import { blockersAt } from '../../core/views/run-status.ts';
import type { SessionView } from '../../core/views/session-view.ts';
import type { CompiledStep } from '../../core/workflow/compiled/compiled-step.ts';
import type { LoadedSession } from '../ports/session-store.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { Hasher } from '../ports/system-services.ts';
import type { AnswerServices, ReadServices } from '../services.ts';
import { filesNow, readPlace, rootOf, runGates, settingsFolders } from './run-place.ts';
import { attemptsAt, type HandedTo, isMaker, triedStep } from './tried-step.ts';

/** What a run's gates depend on besides the log, gathered before the lock is taken. */
export type GateSurroundings = {
  readonly minimum: Assurance;
  readonly accept: GateFacts['accept'];
  readonly page: string | undefined;
  /** The user's settings say that nobody can answer here. */
  readonly isUnattended: boolean;
  /** Somebody else than who made a draft must approve it. */
  readonly isFourEyes: boolean;
  readonly handedTo: HandedTo | undefined;
  /** Who set the mode has a part in the draft, so never-stop is not the word of somebody else. */
  readonly isModeOfMaker: boolean;
  readonly workspace: BoundWorkspace | undefined;
  /** Whose signatures count, where the gate of the pending step needs one. */
  readonly signing: KnownSigners | undefined;
  /** The files as they are now, where a check of the step depends on them. */
  readonly tree: BoundWorkspace | undefined;
  /** The commit as it is now, where CI answered for a check of the step. */
  readonly head: string | undefined;
};

/** The approvers that count for a run, and how many of them must sign. */
export type KnownSigners = Omit<SigningFacts, 'hasUnsigned'> & {
  /** Whether an answer without a signature does not count. A signature that is there must always be right. */
  readonly isNeeded: boolean;
};

/** Looks at settings and files for the pending step of a node. The files matter only to a step that needs an answer. */
export async function gateSurroundings(
  services: AnswerServices,
  session: LoadedSession,
  target: TokenTarget,
): Promise<GateSurroundings> {
  const settings = await services.gateSettings(settingsFolders(session, target.runId));
  const { minimum, accept } = settings;
  const step = await pendingStepOf(services, session, target);
  const gate = step === undefined ? undefined : gateOf(step, minimum);
  const isBound = gate !== undefined && step?.bindsTree !== false;
  const isFresh = step?.checks?.some(({ fresh }) => fresh !== undefined) === true;
  const isCompared = isTreeCompared(session.view, target.nodeId);
  const isNeeded = gate?.assurance === 'signed';
  const look = (isEveryByteRead: boolean) => filesNow(services, session, { isCompared, isEveryByteRead });
  // A check compares with what was seen when it ran, which is every byte.
  const tree = isFresh || (isBound && isNeeded) ? await look(true) : undefined;
  const workspace = isBound && !isNeeded ? await look(false) : tree;
  const areKeysUsed = isNeeded || (gate !== undefined && hasSignature(session.view, target.nodeId));
  const signing = areKeysUsed ? await knownSigners(services, session, { target, isNeeded }) : undefined;
  const { isFourEyes, page } = settings;
  const isAsked = isFourEyes && gate !== undefined;
  const handedTo = isAsked ? await services.handedTo?.(session.sessionId) : undefined;
  const isModeOfMaker = isAsked && isSetByMaker(services, session, { nodeId: target.nodeId, handedTo });
  const head = step?.checks === undefined ? undefined : await headNow(services, session, target.nodeId);
  const seen = { workspace: isBound ? workspace : undefined, tree, head };
  return { ...runGates(settings), accept, page, isFourEyes, handedTo, isModeOfMaker, ...seen, signing };
}

/** Whether the mode comes from somebody who owns the run, sent an attempt at the step, or sends one with this call. */
function isSetByMaker(
  { by }: AnswerServices,
  { view }: LoadedSession,
  at: { readonly nodeId: NodeId; readonly handedTo: HandedTo | undefined },
): boolean {
  const principal = autonomyPrincipalAt(view.preferences, at.nodeId);
  return principal !== undefined && ((by?.via === 'mcp' && by.principal === principal) || isMaker(view, at, principal));
}

/** The commit that the agent's machine describes, or the one that was recorded last; nothing if no job of CI answered. */
async function headNow({ workspace }: AnswerServices, session: LoadedSession, nodeId: NodeId) {
  const { view } = session;
  const answers = attemptsAt(view, triedStep(view, nodeId).step.nodeId).flatMap(
    (id) => view.attestations.get(id) ?? [],
  );
  if (!answers.some(({ data }) => data.by.via === 'ci')) return undefined;
  const seen = (await workspace.observe(rootOf(session))).find(({ key }) => key === 'git_head_sha');
  return (seen ?? currentObservation(view.observations, 'git_head_sha')?.data)?.value.value.replace('sha256:', '');
}

function hasSignature(view: SessionView, nodeId: NodeId): boolean {
  const answers = unusedAnswers(view, triedStep(view, nodeId).step.nodeId);
  return answers.some(({ data }) => data.signature !== undefined);
}

/** Whose signatures count for a run: the keys that are known now, and were known when it started. */
async function knownSigners(
  services: AnswerServices,
  session: LoadedSession,
  { target: { runId }, isNeeded }: { readonly target: TokenTarget; readonly isNeeded: boolean },
): Promise<KnownSigners> {
  const { isFourEyes } = await services.gateSettings(settingsFolders(session, runId));
  const known = await services.approvers?.(rootOf(session));
  const atStart = session.view.graph.runs.get(runId)?.pinned.approvers;
  // A run that needed no signature when it started knows no keys, and a key that is added later must open no gate.
  const isKnown = ({ key: { fingerprint } }: Approver) => atStart?.includes(fingerprint) ?? !isNeeded;
  return {
    isNeeded,
    approvers: [...new Set((known?.approvers ?? []).filter(isKnown).map(({ name }) => name))],
    needed: isFourEyes ? 2 : 1,
    problems: known?.problems ?? [],
    signer: (answer) => {
      const found = known?.signer(answer).unwrapOr(undefined);
      return found !== undefined && isKnown(found)
        ? { name: found.name, fingerprint: found.key.fingerprint }
        : undefined;
    },
  };
}

/** Whether a draft or a check of the step at a node is already bound to files, so that these have to be compared. */
function isTreeCompared(view: SessionView, nodeId: NodeId): boolean {
  return attemptsAt(view, triedStep(view, nodeId).step.nodeId).some((id) => {
    const isRun = view.attestations.get(id)?.some(({ data }) => 'treeDigest' in data.statement) === true;
    return isRun || blockersAt(view, id).some((blocker) => isGate(blocker) && isBoundToFiles(blocker.details));
  });
}

async function pendingStepOf(
  services: AnswerServices,
  session: LoadedSession,
  target: TokenTarget,
): Promise<CompiledStep | undefined> {
  const place = await readPlace(services, session, target);
  if (place.isErr()) return undefined;
  const pending = pendingStep(place.value.snapshot);
  return place.value.workflow.steps.find(({ stepId }) => stepId === pending?.stepId);
}

/** The gate of a step that only a person's answer on a channel of its own can open, and the key it sets. */
export function gateOf(
  { assurance, confirmation, userDependency }: CompiledStep,
  minimum: Assurance,
): { readonly contextKey?: string | undefined; readonly assurance: Assurance } | undefined {
  const isAsked = confirmation.kind !== 'none' || userDependency !== undefined;
  if (!isAsked) return undefined;
  const needed = [assurance, userDependency?.assurance].map((one) => strongestAssurance(one ?? 'stated', minimum));
  const strongest = needed.reduce(strongestAssurance);
  if (strongest === 'stated') return undefined;
  const isKeyGated = strongestAssurance(userDependency?.assurance ?? 'stated', minimum) !== 'stated';
  return { contextKey: isKeyGated ? userDependency?.contextKey : undefined, assurance: strongest };
}

/**
 * What an agent sends without the keys that only a person may set: the agent's value for them is ignored at every step,
 * so that no value of an agent can be taken for the user's answer.
 */
export function withoutPersonKeys(
  sent: JsonObject,
  steps: ReadonlyMap<string, CompiledStep>,
  minimum: Assurance,
): JsonObject {
  const sentKeys = Object.keys(sent);
  if (sentKeys.length === 0) return sent;
  const asked = [...steps.values()].filter(({ userDependency }) => sentKeys.includes(userDependency?.contextKey ?? ''));
  return withoutKeys(
    sent,
    asked.flatMap((step) => gateOf(step, minimum)?.contextKey ?? []),
  );
}

/** What was left out because only a person may set it, unless the person set it to just that. */
export function ignoredKeys(sent: JsonObject, own: JsonObject, known: JsonObject): readonly WarningFact[] {
  const dropped = Object.keys(sent).filter((key) => !Object.hasOwn(own, key));
  const keys = dropped.filter((key) => quote(sent[key] ?? null) !== quote(ownValue(known, key) ?? null));
  return keys.length === 0 ? [] : [{ code: 'person_value_ignored', keys }];
}

/** The notes are longer than what the rules of the step can be checked on. */
export type NotesTooLong = { readonly code: 'notes_too_long'; readonly length: number; readonly lengthMax: number };

/** Beside a contract, criteria are not checked. */
export function checkLength(step: CompiledStep | undefined, notes = ''): Result<void, NotesTooLong> {
  if (step?.criteria === undefined || step.output !== undefined) return ok(undefined);
  const lengthMax = checkedLengthMax(step.criteria);
  return notes.length > lengthMax ? err({ code: 'notes_too_long', length: notes.length, lengthMax }) : ok(undefined);
}

/** Everything about the gate at a node that the decision needs. */
export function gateFacts(
  services: Pick<AnswerServices, 'hasher'>,
  { view }: LoadedSession,
  at: {
    readonly target: TokenTarget;
    readonly step: CompiledStep;
    readonly surroundings: GateSurroundings;
    readonly loopPath: GateFacts['subject']['loopPath'];
  },
): GateFacts | undefined {
  const { target, step, surroundings, loopPath } = at;
  const gate = gateOf(step, surroundings.minimum);
  if (gate === undefined) return undefined;
  const { nodeId, runId } = target;
  const tried = triedStep(view, nodeId);
  const { signing } = surroundings;
  const all = unusedAnswers(view, tried.step.nodeId);
  const given = surroundings.isFourEyes ? all.filter((answer) => !isByMaker(view, answer, surroundings.handedTo)) : all;
  const answers = signing === undefined ? given : given.filter(({ data }) => isSignedEnough(data, signing));
  return {
    minimum: surroundings.minimum,
    signing: signing?.isNeeded ? { ...signing, hasUnsigned: answers.length < given.length } : undefined,
    accept: surroundings.accept,
    page: surroundings.page,
    attestations: answers.map(({ data }) => data),
    approved: approvedDraft(view, answers, surroundings.accept),
    personKeys:
      gate.contextKey !== undefined && isKeyFromPerson(view.context, nodeId, gate.contextKey) ? [gate.contextKey] : [],
    subject: {
      workflowHash: tried.step.workflowHash,
      runId,
      nodeId: tried.step.nodeId,
      stepId: step.stepId,
      loopPath,
      snapshotRef: tried.step.snapshotRef,
      contextBefore: contextAt(view.context, tried.step.nodeId),
      ...(surroundings.workspace === undefined ? {} : { workspace: surroundings.workspace }),
    },
    sha256: services.hasher.sha256,
  };
}

/** Whether somebody approved what they or their agent made. A rejection only keeps the gate closed. */
function isByMaker(
  view: SessionView,
  { data: { statement, by }, scope }: Attestation,
  handedTo: HandedTo | undefined,
): boolean {
  return statement.kind !== 'rejected' && isMaker(view, { nodeId: scope.nodeId, handedTo }, by.principal);
}

/** A rejection needs no signature: it only keeps the gate closed. A rehearsal has no keys. */
function isSignedEnough(answer: Attestation['data'], { signer, isNeeded }: KnownSigners): boolean {
  if (answer.statement.kind === 'rejected') return true;
  if (answer.signature !== undefined) return signer(answer) !== undefined;
  return !isNeeded || answer.by.via === 'rehearsal';
}

/** The draft that people's newest answer is about, unless it was rejected. */
function approvedDraft(
  view: SessionView,
  answers: readonly Attestation[],
  accept: GateFacts['accept'],
): GateFacts['approved'] {
  const newest = answers.findLast(({ data }) => accept.includes(data.by.via));
  if (newest?.data.subject.kind !== 'attempt') return undefined;
  const statement = newest.data.statement.kind;
  if (statement !== 'approved' && statement !== 'answered') return undefined;
  const { digest } = newest.data.subject;
  const { draft, approval } = blockersAt(view, newest.scope.nodeId).find(isGate)?.details ?? {};
  if (draft === undefined || !isObject(draft)) return { digest, statement, parts: undefined };
  // If files changed before the person answered, those at the block are not the ones that were approved.
  const isShown = isObject(approval) && ownValue(approval, 'digest') === digest;
  return { digest, statement, parts: isShown ? draft : withoutKeys(draft, ['tree', 'files', 'treeUnknown']) };
}

/** How many attempts in a row were blocked for something that the agent can send. Waiting for a person does not count. */
export function blockedInARow(view: SessionView, blocked: readonly RunNode[]): number {
  const last = blocked.findLastIndex(({ nodeId }) => blockersAt(view, nodeId).every(isGate));
  return blocked.length - 1 - last;
}

/** What commands showed at the step of a node; `undefined` for a step without checks. */
export function evidenceFacts(
  { sha256 }: Hasher,
  view: SessionView,
  at: Pick<EvidenceFacts, 'tree' | 'head'> & { readonly nodeId: NodeId; readonly step: CompiledStep | undefined },
): EvidenceFacts | undefined {
  const { nodeId, step, tree, head } = at;
  if (step?.checks === undefined) return undefined;
  const own = triedStep(view, nodeId).step;
  const records = attemptsAt(view, own.nodeId)
    .flatMap((id) => view.attestations.get(id) ?? [])
    .sort((a, b) => a.eventIndex - b.eventIndex);
  const runs = records.flatMap(({ data, eventId }): readonly CheckRecord[] => {
    const { subject, statement, by } = data;
    const isMeant =
      subject.kind === 'step' && subject.stepId === step.stepId && subject.snapshotRef === own.snapshotRef;
    return isMeant && statement.kind === 'check' ? [{ run: statement, via: by.via, eventId }] : [];
  });
  return { runs, tree, head, sha256 };
}

/** What earlier attempts sent, and the bytes of their artifacts. */
export type EarlierAttempts = SealedArtifacts & { readonly handedIn: readonly HandedIn[] };

/** What the blocked attempts above a retry sent, oldest first. */
export async function earlierAttempts(
  services: Pick<ReadServices, 'artifacts'>,
  view: SessionView,
  blocked: readonly RunNode[],
): Promise<Result<EarlierAttempts, StoreFailure>> {
  const handedIn: HandedIn[] = [];
  const bytes = new Map<ArtifactDigest, Uint8Array>();
  for (const { nodeId } of blocked) {
    const outputs = blockedDraft(view.outputs, nodeId);
    const read = await readArtifacts(services, outputs);
    if (read.isErr()) return err(read.error);
    handedIn.push({ notesMarkdown: notesIn(outputs), artifacts: read.value.artifacts });
    for (const [digest, content] of read.value.bytes) bytes.set(digest, content);
  }
  return ok({ handedIn, artifacts: handedIn.flatMap(({ artifacts }) => artifacts), bytes });
}

function notesIn(outputs: readonly NodeOutput[]): string | undefined {
  for (const { data } of outputs.toReversed()) {
    if (data.outputChannel === 'recap') return data.payload.notesMarkdown;
  }
  return undefined;
}

async function readArtifacts(
  { artifacts }: Pick<ReadServices, 'artifacts'>,
  outputs: readonly NodeOutput[],
): Promise<Result<SealedArtifacts, StoreFailure>> {
  const found: HandedArtifact[] = [];
  const bytes = new Map<ArtifactDigest, Uint8Array>();
  for (const { data } of outputs) {
    if (data.outputChannel !== 'artifact') continue;
    const { sha256, contentType, byteLength } = data.payload;
    const stored = await artifacts.getJson(sha256);
    if (stored.isErr()) return err(stored.error);
    const { value } = stored.value;
    found.push({ kind: artifactKind(value), value, ref: { sha256, contentType, byteLength } });
    bytes.set(sha256, stored.value.bytes);
  }
  return ok({ artifacts: found, bytes });
}

/** Artifacts of a call with their digests, and the bytes to store. */
export type SealedArtifacts = {
  readonly artifacts: readonly HandedArtifact[];
  readonly bytes: ReadonlyMap<ArtifactDigest, Uint8Array>;
};

const CONTENT_TYPE = 'application/json';

/** Prepares the artifacts of a call for storing. If one is invalid, none is stored. */
export function sealArtifacts(
  values: readonly JsonObject[],
  { sha256 }: Hasher,
): Result<SealedArtifacts, ArtifactRefusal | JsonRefusal> {
  const sealed: HandedArtifact[] = [];
  const bytesOf = new Map<ArtifactDigest, Uint8Array>();
  for (const value of values) {
    const bytes = canonicalBytes(value);
    if (bytes.isErr()) return err(bytes.error);
    const digest = artifactDigestSchema.parse(sha256(bytes.value));
    const ref = { sha256: digest, contentType: CONTENT_TYPE, byteLength: bytes.value.length };
    sealed.push({ kind: artifactKind(value), value, ref });
    bytesOf.set(digest, bytes.value);
  }
  return checkArtifacts(sealed.map(({ ref }) => ref.byteLength)).map(() => ({ artifacts: sealed, bytes: bytesOf }));
}

/** The declared kind of an artifact. */
export function artifactKind({ kind }: JsonObject): string | undefined {
  return typeof kind === 'string' && kind !== '' ? kind : undefined;
}
