import { err, ok, type Result, safeTry } from 'neverthrow';
import { assert } from '../../core/assert.ts';
import type { Flow } from '../../core/flow.ts';
import { canonicalJson } from '../../core/json/canonical-json.ts';
import { defined, parseJson } from '../../core/json/json-value.ts';
import { type Autonomy, PRESETS, type Preferences } from '../../core/log/autonomy.ts';
import type { ExecutionSnapshot } from '../../core/log/execution-snapshot.ts';
import { type NodeId, type RunId, runTag, type SessionId, type WorkflowHash } from '../../core/log/ids.ts';
import { isFalselyBundled, runSource } from '../../core/prompt/reply-parts.ts';
import type { BoundWorkspace } from '../../core/run/gate-facts.ts';
import type { KnownCapabilities, RunFacts } from '../../core/run/step-place.ts';
import { unseenFiles } from '../../core/run/unseen-files.ts';
import { lastActivityIndex } from '../../core/sessions/session-summary.ts';
import { type ChosenPreferences, chosenMode, type GateSettings } from '../../core/settings/settings-in-effect.ts';
import type { Keyring, TokenKeys } from '../../core/token/keyring.ts';
import {
  parseToken,
  resolveToken,
  storedWorkflowMismatch,
  type TokenScope,
  type TokenTarget,
} from '../../core/token/node-token.ts';
import type { TokenClaims, TokenSlot } from '../../core/token/token.ts';
import type { TokenRefusal } from '../../core/token/token-refusal.ts';
import { contextAt } from '../../core/views/lineage.ts';
import {
  autonomySetterAt,
  capabilityAt,
  currentObservation,
  type GapRecord,
  preferencesAt,
  unresolvedGaps,
  wasInRepository,
} from '../../core/views/node-facts.ts';
import { nodeAtEvent, nodeOf } from '../../core/views/run-graph.ts';
import { isClosed } from '../../core/views/run-status.ts';
import type { SessionView } from '../../core/views/session-view.ts';
import { BUNDLED_HASHES } from '../../core/workflow/builtins/bundled-hashes.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import { sealWorkflow } from '../../core/workflow/compiled/sealed-workflow.ts';
import {
  hasSoundPatterns,
  indexWorkflow,
  usesPatterns,
  type WorkflowIndex,
} from '../../core/workflow/compiled/workflow-index.ts';
import type { CompilePattern } from '../../core/workflow/pattern.ts';
import type { OtherWorkflowStored } from '../ports/content-stores.ts';
import type { LoadedSession } from '../ports/session-store.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { AnswerServices, ConfigRefusal, PlaceServices, ReadServices, Services } from '../services.ts';

/** The workflow, state and facts at a node. */
export type RunPlace = {
  readonly index: WorkflowIndex;
  readonly snapshot: ExecutionSnapshot;
  readonly facts: RunFacts;
  readonly openGaps: readonly GapRecord[];
  /** The stored copy of the workflow is lost; a call that appends stores it again. */
  readonly isUnpinned: boolean;
};

export async function runPlace(
  services: PlaceServices,
  session: LoadedSession,
  target: TokenTarget & Pick<RunFacts, 'gates'>,
): Promise<Result<RunPlace, TokenRefusal | StoreFailure>> {
  const read = await readPlace(services, session, target);
  if (read.isErr()) return err(read.error);
  const { workflow, snapshot, preferences, isUnpinned } = read.value;
  const compilePattern = await patternsFor(services, workflow);
  // The patterns of bundled workflows were compiled before the release; here they are compiled when they are used.
  if (!BUNDLED_HASHES.has(snapshot.workflowHash) && !hasSoundPatterns(workflow, compilePattern)) {
    return err(brokenWorkflow(snapshot.workflowHash));
  }
  const { view } = session;
  return ok({
    index: indexWorkflow(workflow),
    snapshot,
    facts: {
      context: contextAt(view.context, target.nodeId),
      preferences,
      capabilities: capabilitiesAt(view, target.nodeId),
      compilePattern,
      gates: target.gates ?? runGates(await services.gateSettings(settingsFolders(session, target.runId))),
      ...(await runOrigin(services, session, target)),
      tag: target.tag,
      command: services.command,
    },
    openGaps: unresolvedGaps(view.gaps, target.nodeId),
    isUnpinned,
  });
}

/**
 * The files that a session works on, to compare with what was recorded of them. Outside git there are no files to
 * compare. If the run began in a repository, hiding `.git` must not remove the files from what a person approves.
 */
export async function filesNow(
  { workspace }: Pick<AnswerServices, 'workspace'>,
  session: LoadedSession,
  { isCompared, isEveryByteRead }: { readonly isCompared: boolean; readonly isEveryByteRead: boolean },
): Promise<BoundWorkspace | undefined> {
  const found = await workspace.tree(rootOf(session), isCompared ? 'long' : 'short', isEveryByteRead);
  const wasThere = isCompared || wasInRepository(session.view.observations);
  return found ?? (wasThere ? unseenFiles('repository_gone') : undefined);
}

/** What the settings say about the gates of a run. */
export function runGates({ minimum, unattended, page }: GateSettings): NonNullable<RunFacts['gates']> {
  return { minimum, isUnattended: unattended === 'gap', ...defined({ page }) };
}

/** Who set the mode, and where the workflow comes from. */
async function runOrigin(
  { marks }: Pick<PlaceServices, 'marks'>,
  { sessionId, view: { graph, preferences } }: LoadedSession,
  { runId, nodeId }: TokenTarget,
) {
  const pinned = graph.runs.get(runId)?.pinned;
  // The mark is read only where it can make a difference.
  const isImported = pinned !== undefined && isFalselyBundled(pinned) && (await marks.origin(sessionId)) !== undefined;
  return defined({ setBy: autonomySetterAt(preferences, nodeId), source: pinned && runSource(pinned, { isImported }) });
}

/** A pinned workflow may come from anywhere. That it matches its hash does not make it valid. */
function brokenWorkflow(hash: WorkflowHash): StoreFailure {
  return { code: 'damaged', damage: { reason: 'content_wrong_shape', place: `workflows/pinned/${hash}`, offset: 0 } };
}

/** The pattern engine for a workflow. It is loaded only if the workflow has patterns. */
export async function patternsFor(
  { patterns }: Pick<ReadServices, 'patterns'>,
  workflow: CompiledWorkflow,
): Promise<CompilePattern> {
  return usesPatterns(workflow) ? patterns.load() : noPatterns;
}

const noPatterns: CompilePattern = (pattern) => {
  assert(false, `a workflow without patterns asks for "${pattern}"`);
};

function capabilitiesAt({ capabilities }: SessionView, nodeId: NodeId): KnownCapabilities {
  const delegation = capabilityAt(capabilities, nodeId, 'delegation');
  const browsing = capabilityAt(capabilities, nodeId, 'web_browsing');
  return {
    ...(delegation === undefined ? {} : { delegation: { status: delegation.status, grade: delegation.grade } }),
    ...(browsing === undefined ? {} : { web_browsing: { status: browsing.status, grade: browsing.grade } }),
  };
}

/** The workflow, state and facts at a node. */
export type PlaceContent = FoundPinned & {
  readonly snapshot: ExecutionSnapshot;
  readonly preferences: Preferences;
};

export async function readPlace(
  services: PlaceServices,
  session: LoadedSession,
  target: TokenTarget,
): Promise<Result<PlaceContent, TokenRefusal | StoreFailure>> {
  const { view } = session;
  const { nodeId, snapshotRef, workflowHash: pinned } = nodeOf(view.graph, target.nodeId);
  const snapshot = await services.snapshots.get(snapshotRef);
  if (snapshot.isErr()) return err(snapshot.error);
  const found = await findPinned(services, session, {
    workflowHash: pinned,
    workflowId: target.workflowId,
    runId: target.runId,
  });
  if (found.isErr()) {
    const refusal = found.error;
    if (refusal.code !== 'other_workflow_stored') return err(refusal);
    return err(storedWorkflowMismatch(target, { pinned, found: refusal.found }));
  }
  const preferences = preferencesAt(view.preferences, nodeId) ?? PRESETS.guided;
  return ok({ ...found.value, snapshot: snapshot.value, preferences });
}

/** The workflow of a run. `isUnpinned`: its stored copy is lost, and a source still has that very workflow. */
export type FoundPinned = { readonly workflow: CompiledWorkflow; readonly isUnpinned: boolean };

/** The workflow that a run is pinned to. If its stored copy is lost, a source may still have it: the hash decides. */
export async function findPinned(
  services: Pick<PlaceServices, 'pinnedWorkflows' | 'catalog' | 'hasher'>,
  session: LoadedSession,
  {
    workflowHash,
    workflowId,
    runId,
  }: { readonly workflowHash: WorkflowHash; readonly workflowId: string; readonly runId: RunId },
): Promise<Result<FoundPinned, OtherWorkflowStored | StoreFailure>> {
  const stored = await services.pinnedWorkflows.get(workflowHash);
  if (stored.isOk()) return ok({ workflow: stored.value, isUnpinned: false });
  // A copy that is there and damaged is damage that a person must hear of.
  const isLost = stored.error.code === 'damaged' && stored.error.damage.reason === 'content_missing';
  if (!isLost || services.catalog === undefined) return err(stored.error);
  const { found } = await services.catalog.find(workflowId, startFolderOf(session, runId));
  if (found.kind !== 'found') return err(stored.error);
  const { workflow } = found.listed;
  if (sealWorkflow(workflow, services.hasher.sha256).hash !== workflowHash) return err(stored.error);
  const text = canonicalJson(workflow);
  assert(text.isOk(), 'a compiled workflow is JSON');
  // As it would be stored: keys are in another order there, and replies must be the same to the byte.
  const json = parseJson(text.value);
  assert(json.isOk(), 'canonical JSON is JSON');
  return ok({ workflow: json.value as unknown as CompiledWorkflow, isUnpinned: true });
}

/** Whether a run is closed. Marks are not part of the log: if they are unreadable, the run is open. */
export async function isRunClosed(
  { marks }: Pick<ReadServices, 'marks'>,
  session: LoadedSession,
  runId: RunId,
): Promise<boolean> {
  const { sessionId, view } = session;
  const seen = marks.seenWith?.(session);
  const closed = seen === undefined ? await marks.closed(sessionId) : ok(seen.closed);
  const run = view.graph.runs.get(runId);
  if (closed.isErr() || run === undefined) return false;
  return isClosed(closed.value, { runId, lastActivityIndex: lastActivityIndex(view.graph, run) });
}

/** Whether a node was the first in its run after the run was closed, and so reopened it. */
export async function isReopenedBy(
  { marks }: Pick<ReadServices, 'marks'>,
  { sessionId, view: { graph } }: LoadedSession,
  nodeId: NodeId,
): Promise<boolean> {
  const closed = await marks.closed(sessionId);
  const { runId, createdIndex } = nodeOf(graph, nodeId);
  const closedAt = closed.isErr() ? undefined : closed.value.get(runId);
  if (closedAt === undefined || createdIndex <= closedAt) return false;
  for (const other of graph.nodes.values()) {
    if (other.runId === runId && other.createdIndex > closedAt && other.createdIndex < createdIndex) return false;
  }
  return true;
}

/** The node of a token, with the keys that verified it. */
export type FoundNode = {
  readonly session: LoadedSession;
  readonly target: TokenTarget;
  readonly keys: TokenKeys;
};

/** Finds the node of a token. Read-only. */
export async function findTokenNode(
  services: ReadServices,
  token: { readonly text: string; readonly slot: TokenSlot },
): Promise<Result<FoundNode, TokenRefusal | StoreFailure>> {
  return safeTry(async function* (): Flow<FoundNode, TokenRefusal | StoreFailure> {
    const { keyring, claims, session } = yield* await genuineToken(services, token);
    const keys = { keyring, hmac: services.hasher.hmacSha256 };
    return resolveToken(claims, session && tokenScope(session)).andThen((target) =>
      session === undefined ? err(sessionGone(target.sessionId)) : ok({ session, target, keys }),
    );
  });
}

type GenuineToken = {
  readonly keyring: Keyring;
  readonly claims: TokenClaims;
  readonly session: LoadedSession | undefined;
};

/** A token that a key of the keyring made, and its session. The keyring is read only if the store does not know it. */
async function genuineToken(
  services: ReadServices,
  token: { readonly text: string; readonly slot: TokenSlot },
): Promise<Result<GenuineToken, TokenRefusal | StoreFailure>> {
  return safeTry(async function* (): Flow<GenuineToken, TokenRefusal | StoreFailure> {
    const hmac = services.hasher.hmacSha256;
    const known = services.keyring.known?.();
    const early = known === undefined ? undefined : parseToken(token.text, token.slot, { keyring: known, hmac });
    if (known !== undefined && early?.isOk() === true) {
      const session = yield* await sessionNamed(services, early.value.sessionId);
      if (services.keyring.known?.() === known) return ok({ keyring: known, claims: early.value, session });
    }
    const keyring = yield* await services.keyring.find();
    const claims = yield* parseToken(token.text, token.slot, { keyring, hmac });
    assert(keyring !== undefined, 'a token is genuine by a key of the keyring');
    return ok({ keyring, claims, session: yield* await sessionNamed(services, claims.sessionId) });
  });
}

async function sessionNamed(
  { sessions }: Pick<ReadServices, 'sessions'>,
  sessionId: SessionId,
): Promise<Result<LoadedSession | undefined, StoreFailure>> {
  const loaded = await sessions.load(sessionId);
  if (loaded.isOk()) return ok(loaded.value);
  return loaded.error.code === 'session_not_found' ? ok(undefined) : err(loaded.error);
}

/** The place of a node, as a token would name it. */
export function targetOf({ sessionId, view }: LoadedSession, nodeId: NodeId): TokenTarget {
  const { runId } = nodeOf(view.graph, nodeId);
  const run = view.graph.runs.get(runId);
  assert(run?.pinned !== undefined, 'a node belongs to a run');
  return { kind: 'state', sessionId, runId, nodeId, tag: runTag(runId), workflowId: run.pinned.workflowId };
}

/** The refusal for a session that was removed, perhaps during this call. */
export function sessionGone(sessionId: SessionId): TokenRefusal {
  return { code: 'TOKEN_UNKNOWN_NODE', sessionId, missing: { kind: 'session' } };
}

function tokenScope({ sessionId, view }: LoadedSession): TokenScope {
  return {
    sessionId,
    nodeAt: (eventIndex) => nodeAtEvent(view.graph, eventIndex),
    node: (nodeId) => view.graph.nodes.get(nodeId),
    run: (runId) => view.graph.runs.get(runId)?.pinned,
  };
}

/** The folder that a session last worked in: the top of its repository. */
export function rootOf({ view }: Viewed): string | undefined {
  return currentObservation(view.observations, 'repo_root')?.data.value.value;
}

/** The folder in which a run was started. Older sessions recorded only the top of the repository. */
export function startFolderOf(session: Viewed, runId: RunId): string | undefined {
  return session.view.graph.runs.get(runId)?.folder ?? rootOf(session);
}

/**
 * The folder that the checks of a run are about: where it was started, if that is in the workspace of its session. A run
 * that was attached from elsewhere works on what its session works on.
 */
export function workFolderOf(session: Viewed, runId: RunId): string | undefined {
  const [root, folder] = [rootOf(session), startFolderOf(session, runId)];
  return root !== undefined && folder !== undefined && pathBelow(root, folder) !== undefined ? folder : root;
}

/** The folders whose settings count for every run of a session. */
export function sessionSettingsFolders(session: Viewed): readonly string[] {
  const [first] = session.view.graph.runs.values();
  return [rootOf(session), first?.folder].filter((folder) => folder !== undefined);
}

/** The folders whose settings count for a run: those of its session, and its own. */
export function settingsFolders(session: Viewed, runId: RunId): readonly string[] {
  const own = session.view.graph.runs.get(runId)?.folder;
  return [...sessionSettingsFolders(session), ...(own === undefined ? [] : [own])];
}

/** The mode of a call, lowered to what the settings of the run's folders allow. */
export async function modeAllowed(
  { defaults }: Pick<Services, 'defaults'>,
  { session, target }: { readonly session: Viewed; readonly target: Pick<TokenTarget, 'runId'> },
  mode: Autonomy | undefined,
): Promise<Result<ChosenPreferences | undefined, ConfigRefusal>> {
  if (mode === undefined) return ok(undefined);
  // Nothing is tighter than guided, so no setting matters to it.
  if (mode === 'guided') return ok(chosenMode(mode, {}));
  const limits = await defaults(settingsFolders(session, target.runId));
  return limits.map((found) => chosenMode(mode, found));
}

/** The path of a folder below another one, with slashes; empty for the same folder, `undefined` for one elsewhere. */
export function pathBelow(root: string, folder: string): string | undefined {
  const [from, to] = [root, folder].map((path) => `${path.replaceAll('\\', '/').replace(/\/+$/, '')}/`);
  return from !== undefined && to?.startsWith(from) ? to.slice(from.length).replace(/\/$/, '') : undefined;
}

type Viewed = Pick<LoadedSession, 'view'>;
