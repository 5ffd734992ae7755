import { err, ok, type Result, safeTry } from 'neverthrow';
import type { Flow } from '../../core/flow.ts';
import { defined } from '../../core/json/json-value.ts';
import { eventIndexSchema, type SessionId, type WorkflowHash } from '../../core/log/ids.ts';
import { chainGenesis } from '../../core/log/manifest.ts';
import { type AppendPlan, signatureAfter } from '../../core/log/plan/append-plan.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import type { MarkStore } from '../ports/session-marks.ts';
import type { LoadRefusal, LoggedAppend, SessionLog } from '../ports/session-store.ts';
import type { Store } from '../ports/store.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import { type LogReader, readIntactPart } from './read-intact-part.ts';
import { appendCopied, pinAll, type SessionCopy, type WriteRefusal, writeSession } from './write-session.ts';

export type CopyServices = Pick<LogReader, 'tools' | 'yieldNow'> & {
  readonly from: Store;
  readonly to: Store & { readonly marks: MarkStore };
};

/**
 * What became of one session. Its id stays, so equal chains prove an equal copy. `differs`: the target has another
 * history under this id, so nothing was written; `damaged`: it cannot be read whole here.
 */
export type CopiedSession = {
  readonly sessionId: SessionId;
  readonly kind: 'copied' | 'continued' | 'unchanged' | 'differs' | 'damaged';
  /** How many events were written. */
  readonly events: number;
};

type StoreCopyRefusal = LoadRefusal | WriteRefusal;

/** Copies one session with its marks. What is there already stays, and is continued if it is the start of this one. */
export async function copySession(
  services: CopyServices,
  sessionId: SessionId,
): Promise<Result<CopiedSession, StoreCopyRefusal>> {
  return safeTry(async function* (): Flow<CopiedSession, StoreCopyRefusal> {
    const { from, to } = services;
    const copied = (kind: CopiedSession['kind'], events = 0): CopiedSession => ({ sessionId, kind, events });
    const log = yield* await from.logs.open(sessionId);
    if (log.health.kind !== 'healthy') return ok(copied('damaged'));
    const there = await to.logs.open(sessionId);
    if (there.isErr() && there.error.code !== 'session_not_found') return err(there.error);
    const known = there.isOk() ? there.value.appends.length : 0;
    if (there.isOk() && !isStartOf(there.value, log)) return ok(copied('differs'));
    if (known === log.appends.length) {
      yield* await copyMarks(services, sessionId);
      return ok(copied('unchanged'));
    }
    const { plans, workflows, isWhole } = yield* await readPlans({ ...from, ...services }, log);
    if (!isWhole) return ok(copied('damaged'));
    const rest = plans.slice(known);
    const origin = await from.marks.origin(sessionId);
    const copy: SessionCopy = {
      events: rest.reduce((sum, { events }) => sum + events.length, 0),
      salvage: undefined,
      ...defined({ origin: origin?.kind === 'imported' ? origin : undefined }),
      workflows: () => workflows.values(),
      plans: () => plans,
    };
    if (known === 0) yield* await writeSession(to, copy, { sessionId, onProgress: () => undefined });
    else yield* await continueSession(to, copy, { sessionId, rest });
    yield* await copyMarks(services, sessionId);
    return ok(copied(known === 0 ? 'copied' : 'continued', copy.events));
  });
}

function isStartOf(there: SessionLog, { appends }: SessionLog): boolean {
  if (there.health.kind !== 'healthy' || there.appends.length > appends.length) return false;
  const last = there.appends.length - 1;
  return chainAfter(there.appends[last]) === chainAfter(appends[last]);
}

/** It covers everything before it. */
function chainAfter(append: LoggedAppend | undefined): string | undefined {
  return append && (append.pins.at(-1) ?? append.segment).chain;
}

type ReadPlans = {
  readonly plans: readonly AppendPlan[];
  readonly workflows: ReadonlyMap<WorkflowHash, CompiledWorkflow>;
  readonly isWhole: boolean;
};

async function readPlans(reader: LogReader, log: SessionLog): Promise<Result<ReadPlans, LoadRefusal>> {
  const plans: AppendPlan[] = [];
  const workflows = new Map<WorkflowHash, CompiledWorkflow>();
  let chain = chainGenesis(log.sessionId, reader.tools.sha256);
  const intact = await readIntactPart(reader, log, {
    onProgress: () => undefined,
    each: ({ plan, append, workflows: named }) => {
      plans.push({ ...plan, pinned: [...named.keys()], signed: signatureAfter(chain, append.segment) });
      chain = (append.pins.at(-1) ?? append.segment).chain;
      for (const [hash, workflow] of named) workflows.set(hash, workflow);
    },
  });
  return intact.map(({ health }) => ({ plans, workflows, isWhole: health === undefined }));
}

async function continueSession(
  to: CopyServices['to'],
  copy: SessionCopy,
  { sessionId, rest }: { readonly sessionId: SessionId; readonly rest: readonly AppendPlan[] },
): Promise<Result<void, StoreCopyRefusal>> {
  const pinned = await pinAll(to, copy);
  if (pinned.isErr()) return err(pinned.error);
  return to.sessions.exclusively<void, StoreCopyRefusal>(sessionId, async (_, permit) => {
    for (const plan of rest) {
      const appended = await appendCopied(to, copy, { permit, plan });
      if (appended.isErr()) return err(appended.error);
    }
    return ok(undefined);
  });
}

/** Marks are not in the log. Those that the target has stay. */
async function copyMarks({ from, to }: CopyServices, sessionId: SessionId): Promise<Result<void, StoreCopyRefusal>> {
  return safeTry(async function* (): Flow<void, StoreCopyRefusal> {
    const marks = yield* await from.marks.of(sessionId);
    const there = yield* await to.marks.of(sessionId);
    if (marks.isKept && !there.isKept) yield* await to.marks.setKept(sessionId, true);
    for (const [runId, closedAt] of marks.closed) {
      if (there.closed.has(runId)) continue;
      yield* await to.marks.setClosed(sessionId, runId, eventIndexSchema.parse(closedAt));
    }
    return ok(undefined);
  });
}

/** Copies the keys that sign tokens, so that tokens stay valid. `taken`: the target has keys of its own. */
export async function copyKeys({
  from,
  to,
}: Pick<CopyServices, 'from' | 'to'>): Promise<Result<'copied' | 'none' | 'taken', StoreFailure>> {
  const keyring = await from.keyring.find();
  if (keyring.isErr()) return err(keyring.error);
  if (keyring.value === undefined) return ok('none');
  return (await to.keyring.adopt(keyring.value)).map((isAdopted) => (isAdopted ? 'copied' : 'taken'));
}
