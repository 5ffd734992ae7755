import { err, ok, type Result } from 'neverthrow';
import { admitAppend, emptyHistory } from '../core/bundle/admit-append.ts';
import type { BundleTools } from '../core/bundle/bundle-tools.ts';
import type { JsonValue } from '../core/json/json-value.ts';
import type { SessionEvent } from '../core/log/event.ts';
import type { ExecutionSnapshot } from '../core/log/execution-snapshot.ts';
import { jsonValueSchema } from '../core/log/field-schemas.ts';
import { type Salvage, salvageSchema } from '../core/log/health.ts';
import type { ArtifactDigest, SessionId, SnapshotRef, WorkflowHash } from '../core/log/ids.ts';
import { buildReport } from '../core/report/build/build-report.ts';
import type { ReportSource } from '../core/report/build/report-source.ts';
import { redactReport } from '../core/report/redact/redact-report.ts';
import type { Report } from '../core/report/report.ts';
import type { CompiledWorkflow } from '../core/workflow/compiled/compiled-workflow.ts';
import { type ContentStores, loggedPlan, wrongEvents } from './bundle/logged-plan.ts';
import { headless, salvageHealth } from './bundle/survey-session.ts';
import type { MarkReader } from './ports/session-marks.ts';
import type { LoadRefusal, SessionLog, SessionLogs } from './ports/session-store.ts';

export type ReportServices = ContentStores & {
  readonly logs: SessionLogs;
  readonly marks: Pick<MarkReader, 'closed'>;
  readonly tools: BundleTools;
  /** Awaited regularly, so that other work can run. */
  readonly yieldNow: () => Promise<void>;
};

export type ReportRequest = {
  readonly sessionIds: readonly SessionId[];
  readonly isRedacted: boolean;
  /** Home folders on this machine. */
  readonly homes: readonly string[];
};

export type ReportProgress = { readonly done: number; readonly total: number };

/** Builds one report about sessions: each as it is now, or its intact start. */
export async function readReport(
  services: ReportServices,
  { sessionIds, isRedacted, homes }: ReportRequest,
  onProgress: (progress: ReportProgress) => void = () => undefined,
): Promise<Result<Report, LoadRefusal>> {
  const sources: ReportSource[] = [];
  for (const sessionId of sessionIds) {
    const source = await readSource(services, sessionId, onProgress);
    if (source.isErr()) return err(source.error);
    sources.push(source.value);
  }
  const report = buildReport(sources);
  return ok(isRedacted ? redactReport(report, { homes }) : report);
}

async function readSource(
  services: ReportServices,
  sessionId: SessionId,
  onProgress: (progress: ReportProgress) => void,
): Promise<Result<ReportSource, LoadRefusal>> {
  const { logs, tools, yieldNow } = services;
  const opened = await logs.open(sessionId);
  if (opened.isErr()) return err(opened.error);
  const log = opened.value;
  const history = emptyHistory(sessionId, tools);
  const read = emptyContent();
  let health = log.health.kind === 'healthy' ? undefined : (log.salvage?.health ?? salvageHealth(log));
  for (const [done, append] of log.appends.entries()) {
    await yieldNow();
    onProgress({ done, total: log.appends.length });
    const plan = await loggedPlan(services, log, append);
    if (plan.isErr() && plan.error.code !== 'cut') return err(plan.error);
    const isAdmitted = plan.isOk() && admitAppend(history, { ...plan.value, records: append }, tools).isOk();
    if (plan.isErr() || !isAdmitted) {
      const cut = plan.isErr() && plan.error.code === 'cut' ? plan.error : undefined;
      if (read.events.length === 0) return err(cut?.cause ?? wrongEvents(log, append));
      health = cut?.health ?? 'corrupt_tail';
      break;
    }
    const { events, snapshots, artifacts } = plan.value.plan;
    read.events.push(...events);
    for (const [ref, snapshot] of snapshots) read.snapshots.set(ref, snapshot);
    for (const [hash, workflow] of plan.value.workflows) read.workflows.set(hash, workflow);
    for (const [digest, bytes] of artifacts) {
      const value = tools.parseJson(bytes).map((content) => jsonValueSchema.safeParse(content));
      if (value.isOk() && value.value.success) read.artifacts.set(digest, value.value.data);
    }
  }
  if (read.events.length === 0) return err(headless(log));
  // Marks are not part of the log. If they are unreadable, every run counts as open.
  const closed = (await services.marks.closed(sessionId)).unwrapOr(new Map());
  const salvage = salvageOf(log, health, read.events.length - 1);
  return ok({ sessionId, salvage, closed, view: history.view, ...read });
}

function salvageOf(
  log: SessionLog,
  health: Salvage['health'] | undefined,
  lastEventIndex: number,
): Salvage | undefined {
  if (health === undefined) return undefined;
  return log.salvage ?? salvageSchema.parse({ health, lastEventIndex });
}

function emptyContent() {
  return {
    events: [] as SessionEvent[],
    snapshots: new Map<SnapshotRef, ExecutionSnapshot>(),
    workflows: new Map<WorkflowHash, CompiledWorkflow>(),
    artifacts: new Map<ArtifactDigest, JsonValue>(),
  };
}
