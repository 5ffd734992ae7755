import { ok, type Result, safeTry } from 'neverthrow';
import type { Flow, OnProgress } from '../core/flow.ts';
import { digestHex } from '../core/json/canonical-json.ts';
import { defined, type JsonValue } from '../core/json/json-value.ts';
import { jsonValueSchema } from '../core/log/document-schema.ts';
import type { SessionEvent } from '../core/log/event.ts';
import type { ExecutionSnapshot } from '../core/log/execution-snapshot.ts';
import { salvageSchema } from '../core/log/health.ts';
import type { ArtifactDigest, SessionId, SnapshotRef, WorkflowHash } from '../core/log/ids.ts';
import { chainHead, checkSignatures, type LogKey } from '../core/log/log-signatures.ts';
import { buildReport } from '../core/report/build/build-report.ts';
import type { ReportSource } from '../core/report/build/report-source.ts';
import { redactReport } from '../core/report/redact/redact-report.ts';
import type { Report } from '../core/report/report.ts';
import { bytesOfHex } from '../core/text/binary-text.ts';
import type { CompiledWorkflow } from '../core/workflow/compiled/compiled-workflow.ts';
import { type LogReader, readIntactPart } from './bundle/read-intact-part.ts';
import type { MarkReader } from './ports/session-marks.ts';
import type { LoadRefusal, SessionLog, SessionLogs } from './ports/session-store.ts';

export type ReportServices = LogReader & {
  readonly logs: SessionLogs;
  readonly marks: Pick<MarkReader, 'closed' | 'origin'>;
  /** The keys that signatures of logs are checked with. Without them, a report says nothing about signatures. */
  readonly logKeys?: () => Promise<readonly LogKey[]>;
};

export type ReportRequest = {
  readonly sessionIds: readonly SessionId[];
  readonly isRedacted: boolean;
  /** Home folders on this machine. */
  readonly homes: readonly string[];
};

/** Builds one report about sessions: each as it is now, or its intact start. */
export async function readReport(
  services: ReportServices,
  { sessionIds, isRedacted, homes }: ReportRequest,
  onProgress: OnProgress = () => undefined,
): Promise<Result<Report, LoadRefusal>> {
  return safeTry(async function* (): Flow<Report, LoadRefusal> {
    const sources: ReportSource[] = [];
    for (const sessionId of sessionIds) sources.push(yield* await readSource(services, sessionId, onProgress));
    const report = buildReport(sources);
    return ok(isRedacted ? redactReport(report, { homes }) : report);
  });
}

async function readSource(
  services: ReportServices,
  sessionId: SessionId,
  onProgress: OnProgress,
): Promise<Result<ReportSource, LoadRefusal>> {
  return safeTry(async function* (): Flow<ReportSource, LoadRefusal> {
    const log = yield* await services.logs.open(sessionId);
    const events: SessionEvent[] = [];
    const snapshots = new Map<SnapshotRef, ExecutionSnapshot>();
    const workflows = new Map<WorkflowHash, CompiledWorkflow>();
    const artifacts = new Map<ArtifactDigest, JsonValue>();
    const { view, health } = yield* await readIntactPart(services, log, {
      onProgress,
      each: (intact) => {
        events.push(...intact.plan.events);
        for (const [ref, snapshot] of intact.plan.snapshots) snapshots.set(ref, snapshot);
        for (const [hash, workflow] of intact.workflows) workflows.set(hash, workflow);
        for (const [digest, bytes] of intact.plan.artifacts) {
          const value = services.tools.parseJson(bytes).map((content) => jsonValueSchema.safeParse(content));
          if (value.isOk() && value.value.success) artifacts.set(digest, value.value.data);
        }
      },
    });
    // Marks are not part of the log. If they are unreadable, every run counts as open.
    const closed = (await services.marks.closed(sessionId)).unwrapOr(new Map());
    const salvage = health && (log.salvage ?? salvageSchema.parse({ health, lastEventIndex: events.length - 1 }));
    const origin = await services.marks.origin(sessionId);
    const signature = await signatureOf(services, log);
    return ok({ sessionId, salvage, closed, origin, signature, view, events, snapshots, workflows, artifacts });
  });
}

async function signatureOf(
  { logKeys, tools }: ReportServices,
  { sessionId, appends }: SessionLog,
): Promise<ReportSource['signature']> {
  if (logKeys === undefined) return undefined;
  const bytesOf = (digest: string) => bytesOfHex(digestHex(digest));
  const log = checkSignatures(sessionId, appends, { sha256: tools.sha256, bytesOf, keys: await logKeys() });
  const head = chainHead(appends);
  return { log, ...defined({ head: head && digestHex(head) }) };
}
