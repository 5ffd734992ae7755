import { type Context, context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Clock } from '../../app/ports/system-services.ts';
import type { TeamDatabase } from '../../app/ports/team-database.ts';

/** One call of a tool, as it ended. */
type CallFacts = { readonly tool: string; readonly outcome: string; readonly ms: number };

/** What a replica counts. No label names a person, a run or a space. */
export type TeamMetrics = {
  readonly contentType: string;
  readonly text: () => Promise<string>;
  call(facts: CallFacts): void;
  /** A request that was turned away before it reached a tool. */
  refused(code: string): void;
  /** Something that was asked of the store of a session, as it ended: `ok`, `overtaken`, or the code of a refusal. */
  store(operation: 'append' | 'load', facts: Omit<CallFacts, 'tool'>): void;
  /** A statement that is sent to the database. */
  statement(): void;
};

const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** What is looked at when somebody asks for the metrics. */
type MetricSources = Pick<TeamDatabase, 'connections' | 'waiting'> & Clock;

/** `tools` are the names that a label can have: an agent can call a tool by any name. */
export function teamMetrics(tools: readonly string[], sources: MetricSources): TeamMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, prefix: 'workrail_' });
  const calls = new Histogram({
    name: 'workrail_call_seconds',
    help: 'Duration of tool calls by tool and outcome.',
    labelNames: ['tool', 'outcome'],
    buckets: BUCKETS,
    registers,
  });
  const refusals = new Counter({
    name: 'workrail_refused_requests_total',
    help: 'Requests that were turned away before they reached a tool, by reason.',
    labelNames: ['reason'],
    registers,
  });
  const stores = storeMetrics(registers, sources.connections);
  const lookAtWaiting = waitingMetrics(registers, sources);
  return {
    ...stores,
    contentType: registry.contentType,
    text: async () => {
      await lookAtWaiting();
      return registry.metrics();
    },
    call: ({ tool, outcome, ms }) =>
      calls.observe({ tool: tools.includes(tool) ? tool : 'other', outcome }, ms / 1_000),
    refused: (reason) => refusals.inc({ reason }),
  };
}

function storeMetrics(
  registers: Registry[],
  connections: MetricSources['connections'],
): Pick<TeamMetrics, 'store' | 'statement'> {
  const seconds = new Histogram({
    name: 'workrail_store_seconds',
    help: 'Duration of appends to sessions and loads of sessions, by outcome. An append that was overtaken is decided again.',
    labelNames: ['operation', 'outcome'],
    buckets: BUCKETS,
    registers,
  });
  const statements = new Counter({
    name: 'workrail_statements_total',
    help: 'Statements that were sent to the database. Divided by the calls: statements per call.',
    registers,
  });
  const wentBack = new Counter({
    name: 'workrail_store_went_back_total',
    help: 'Sessions of which the database had less than this server had read: acknowledged work is missing.',
    registers,
  });
  new Gauge({
    name: 'workrail_database_connections',
    help: 'Connections in use, and callers that wait for one.',
    labelNames: ['state'],
    registers,
    collect() {
      const { inUse, waiting } = connections();
      this.set({ state: 'in_use' }, inUse);
      this.set({ state: 'waiting' }, waiting);
    },
  });
  return {
    store: (operation, { outcome, ms }) => {
      seconds.observe({ operation, outcome }, ms / 1_000);
      if (outcome === 'store_went_back') wentBack.inc();
    },
    statement: () => statements.inc(),
  };
}

/** Returns what brings both up to date. Nothing is shown while the database does not answer. */
function waitingMetrics(registers: Registry[], { waiting, nowMs }: MetricSources): () => Promise<void> {
  const count = new Gauge({
    name: 'workrail_approvals_waiting',
    help: 'Runs of all spaces that wait for a person. Every server shows the same number.',
    registers,
  });
  const age = new Gauge({
    name: 'workrail_approvals_waiting_oldest_seconds',
    help: 'How long the run that has waited longest for a person has waited; 0 if none waits.',
    registers,
  });
  return async () => {
    const found = await waiting();
    if (found.isErr()) {
      count.remove();
      age.remove();
      return;
    }
    const { runs, since } = found.value;
    count.set(runs);
    age.set(since === undefined ? 0 : Math.max(0, nowMs() - since) / 1_000);
  };
}

const TRACER = 'workrail';
/** The parent of a call, as W3C Trace Context writes it. */
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})/;

/**
 * Runs a tool call in a span under the one that its `_meta` names. Without an OpenTelemetry SDK, which the operator
 * preloads, nothing is recorded. No attribute names a person, a run or a space.
 */
export function tracedCall<Value>(
  { meta, tool }: { readonly meta: unknown; readonly tool: string },
  work: () => Promise<Value>,
): Promise<Value> {
  const options = { kind: SpanKind.SERVER, attributes: { 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': tool } };
  return trace.getTracer(TRACER).startActiveSpan(`tools/call ${tool}`, options, parentIn(meta), (span) =>
    work()
      .catch((error: unknown) => {
        span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      })
      .finally(() => span.end()),
  );
}

function parentIn(meta: unknown): Context {
  const { traceparent } = (meta ?? {}) as { readonly traceparent?: unknown };
  const [, traceId, spanId, flags = '00'] = TRACEPARENT.exec(typeof traceparent === 'string' ? traceparent : '') ?? [];
  if (traceId === undefined || spanId === undefined) return context.active();
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
  });
}
