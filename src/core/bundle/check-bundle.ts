import { err, ok, type Result, safeTry } from 'neverthrow';
import { assert } from '../assert.ts';
import type { WorkProgress } from '../flow.ts';
import type { Sha256Digest } from '../json/canonical-json.ts';
import { type SessionEvent, takeAsParsed } from '../log/event.ts';
import { type Salvage, salvageSchema } from '../log/health.ts';
import { SessionId } from '../log/ids.ts';
import { type AppendPlan, addContentRefs, type ContentRefs, noContentRefs } from '../log/plan/append-plan.ts';
import type { CompiledWorkflow } from '../workflow/compiled/compiled-workflow.ts';
import { admitAppend, emptyHistory } from './admit-append.ts';
import { bundleContent } from './bundle-content.ts';
import { bundleIdSchema, type Producer, producerSchema, TABLES } from './bundle-document.ts';
import { type BundleIndex, indexBundle, readBundleValue } from './bundle-index.ts';
import { type BundleRefusal, broken, invalid } from './bundle-refusal.ts';
import type { BundleTools } from './bundle-tools.ts';
import { type CanonicalLists, checkIntegrity } from './check-integrity.ts';
import { readAppends } from './read-appends.ts';

/** A valid bundle, which a store accepts completely. */
export type CheckedBundle = {
  readonly bundleId: string;
  readonly sessionId: SessionId;
  readonly salvage: Salvage | undefined;
  /** What it says about the program that made it. */
  readonly producer: Producer;
  /** The chain value of the last record of its manifest. */
  readonly head: Sha256Digest;
  readonly events: number;
  readonly runs: number;
  readonly artifacts: number;
  /** The pinned workflows of its runs. */
  workflows(): Iterable<CompiledWorkflow>;
  /** The appends that recreate the session, under its own id or another. */
  plans(sessionId: SessionId): Iterable<AppendPlan>;
};

/**
 * Checks everything in a bundle: limits, version, shape, digests, order, and then the whole history as a store would,
 * append by append. Yields its progress in events, so that the caller can let other work run.
 */
export function* checkBundle(
  bytes: Uint8Array,
  tools: BundleTools,
): Generator<WorkProgress, Result<CheckedBundle, BundleRefusal>> {
  const indexed = indexBundle(bytes, tools);
  if (indexed.isErr()) return err(indexed.error);
  const index = indexed.value;
  const total = index.lists['session/events'].length;
  const integrity = checkIntegrity(index, tools);
  let step = integrity.next();
  for (; step.done !== true; step = integrity.next()) yield { done: 0, total };
  const checked = step.value;
  if (checked.isErr()) return err(checked.error);
  const head = readHead(index, tools);
  if (head.isErr()) return err(head.error);
  const { sessionId } = head.value;
  const history = yield* checkHistory(index, { sessionId, canonical: checked.value }, tools);
  return history.map(({ runs, refs, chain, plans }) => ({
    ...head.value,
    head: chain,
    events: total,
    runs,
    artifacts: index.tables.artifacts.size,
    workflows: () => workflowsOf(index, refs, tools),
    plans: (as) => plansAs(plans ?? readAgain(index, sessionId, tools), as),
  }));
}

type BundleHead = Pick<CheckedBundle, 'bundleId' | 'sessionId' | 'salvage' | 'producer'>;

function readHead(index: BundleIndex, tools: BundleTools): Result<BundleHead, BundleRefusal> {
  return safeTry(function* () {
    const bundleId = yield* readBundleValue(index, 'bundleId', { schema: bundleIdSchema, tools });
    const sessionId = yield* readBundleValue(index, 'session/sessionId', { schema: SessionId.schema, tools });
    const salvage = yield* readSalvage(index, tools);
    const producer = yield* readBundleValue(index, 'producer', { schema: producerSchema, tools });
    return ok({ bundleId, sessionId, salvage, producer });
  });
}

function readSalvage(index: BundleIndex, tools: BundleTools): Result<Salvage | undefined, BundleRefusal> {
  const path = 'session/salvage';
  if (!index.values.has(path)) return ok(undefined);
  return readBundleValue(index, path, { schema: salvageSchema, tools }).andThen((salvage) =>
    salvage.lastEventIndex === index.lists['session/events'].length - 1
      ? ok(salvage)
      : err(broken('salvage_disagrees', path)),
  );
}

type CheckedHistory = {
  readonly runs: number;
  readonly refs: ContentRefs;
  readonly chain: Sha256Digest;
  /** What was read, unless it takes too much memory. */
  readonly plans: readonly AppendPlan[] | undefined;
};

/** A larger bundle is read a second time when it is written. */
const KEPT_BYTES_MAX = 64 * 2 ** 20;

function* checkHistory(
  index: BundleIndex,
  { sessionId, canonical }: Pick<BundleHead, 'sessionId'> & { readonly canonical: CanonicalLists },
  tools: BundleTools,
): Generator<WorkProgress, Result<CheckedHistory, BundleRefusal>> {
  const total = index.lists['session/events'].length;
  if (total === 0) return err(invalid('wrong_shape', 'session/events'));
  const history = emptyHistory(sessionId, tools);
  const refs = noContentRefs();
  let undigested: keyof CanonicalLists | undefined;
  const plans = index.bytes.length <= KEPT_BYTES_MAX ? ([] as AppendPlan[]) : undefined;
  for (const append of readAppends(index, { sessionId, isChecked: false }, tools)) {
    if (append.isErr()) return err(append.error);
    const admitted = admitAppend(history, append.value, tools);
    if (admitted.isErr()) {
      const { reason, at, position } = admitted.error;
      return err(broken(reason, `session/${at}/${position}`));
    }
    // The file may contain a list in another form; the integrity manifest is about its canonical form.
    const { isCanonical } = append.value;
    if (!(canonical.manifest || isCanonical.manifest)) undigested ??= 'manifest';
    if (!(canonical.events || isCanonical.events)) undigested ??= 'events';
    for (const event of append.value.plan.events) addContentRefs(refs, event);
    plans?.push(append.value.plan);
    yield { done: history.view.nextEventIndex, total };
  }
  if (undigested !== undefined) return err(broken('digest_mismatch', `session/${undigested}`));
  const unnamed = unnamedContent(index, refs);
  if (unnamed !== undefined) return err(broken('unnamed_content', unnamed));
  return ok({ runs: history.view.graph.runs.size, refs, chain: history.chain, plans });
}

/** Content that no event refers to would be imported without any use. */
function unnamedContent({ tables }: BundleIndex, refs: ContentRefs): string | undefined {
  const named: { readonly [table in (typeof TABLES)[number]]: { has(key: string): boolean } } = {
    artifacts: refs.artifacts as ReadonlyMap<string, number>,
    pinnedWorkflows: refs.workflows as ReadonlySet<string>,
    snapshots: refs.snapshots as ReadonlySet<string>,
  };
  for (const table of TABLES) {
    for (const key of tables[table].keys()) if (!named[table].has(key)) return `session/${table}/${key}`;
  }
  return undefined;
}

function* workflowsOf(index: BundleIndex, refs: ContentRefs, tools: BundleTools): Generator<CompiledWorkflow> {
  const content = bundleContent(index, tools);
  for (const hash of refs.workflows) {
    const workflow = content.workflow(hash);
    assert(workflow.isOk(), `${hash} was checked`);
    yield workflow.value;
  }
}

function* readAgain(index: BundleIndex, sessionId: SessionId, tools: BundleTools): Generator<AppendPlan> {
  for (const append of readAppends(index, { sessionId, isChecked: true }, tools)) {
    assert(append.isOk(), 'a checked bundle can be read');
    yield append.value.plan;
  }
}

function* plansAs(plans: Iterable<AppendPlan>, sessionId: SessionId): Generator<AppendPlan> {
  for (const plan of plans) {
    if (plan.sessionId === sessionId) yield plan;
    // Another id is another history, so the signatures do not hold for it.
    else
      yield { ...plan, sessionId, signed: null, events: plan.events.map((event) => withSessionId(event, sessionId)) };
  }
}

/**
 * An event as part of another session. Only its session id and dedupe key change: no other id is derived from the
 * session id, so runs, nodes, attempts and outputs keep theirs.
 */
export function withSessionId(event: SessionEvent, sessionId: SessionId): SessionEvent {
  if (event.sessionId === sessionId) return event;
  const head = `${event.kind}:${event.sessionId}`;
  const dedupeKey = `${event.kind}:${sessionId}${event.dedupeKey.slice(head.length)}`;
  return takeAsParsed({ ...event, sessionId, dedupeKey });
}
