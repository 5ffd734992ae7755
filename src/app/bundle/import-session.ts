import { err, ok, type Result, safeTry } from 'neverthrow';
import { type BundleRefusal, invalid } from '../../core/bundle/bundle-refusal.ts';
import type { BundleTools } from '../../core/bundle/bundle-tools.ts';
import { type CheckedBundle, checkBundle } from '../../core/bundle/check-bundle.ts';
import type { Flow } from '../../core/flow.ts';
import type { Salvage } from '../../core/log/health.ts';
import type { SessionId } from '../../core/log/ids.ts';
import { type Origin, plainVersion } from '../../core/log/origin.ts';
import { sealWorkflow } from '../../core/workflow/compiled/sealed-workflow.ts';
import { hasSoundPatterns, usesPatterns } from '../../core/workflow/compiled/workflow-index.ts';
import type { SessionBin } from '../ports/upkeep.ts';
import type { Services } from '../services.ts';
import { type ChangedMeanwhile, type EarlierImport, findEarlierImport, updateImport } from './earlier-import.ts';
import {
  appendCopied,
  type ImportProgress,
  pinAll,
  type SessionCopy,
  type WriteRefusal,
  type WriteServices,
  writeSession,
} from './write-session.ts';

export type ImportServices = WriteServices &
  Pick<Services, 'logs' | 'marks' | 'keyring' | 'ids' | 'patterns' | 'clock'> & {
    /** A deleted session can be restored under its own id, so that id is taken too. */
    readonly bin: Pick<SessionBin, 'list'>;
    readonly tools: BundleTools;
    /** Awaited regularly, so that other work can run. */
    readonly yieldNow: () => Promise<void>;
  };

export type Imported = {
  /** `unchanged`: the session is here already, exactly as in the bundle, so nothing was written. */
  readonly kind: 'imported' | 'updated' | 'unchanged' | 'would_import';
  readonly bundleId: string;
  /** The session in the bundle. */
  readonly from: SessionId;
  /** The session here: the same id, unless it is taken. A new id is `undefined` until it is written. */
  readonly sessionId: SessionId | undefined;
  readonly events: number;
  readonly runs: number;
  readonly artifacts: number;
  /** Set if it is only part of a session, which can be read but not continued. */
  readonly salvage: Salvage | undefined;
  /** A session here that the bundle continues. */
  readonly earlier: EarlierImport | undefined;
};

export type ImportRequest = {
  readonly bytes: Uint8Array;
  readonly isDryRun: boolean;
  /** What to do if the bundle continues a session here. Default: a copy. */
  readonly chooseUpdate?: (earlier: EarlierImport) => Promise<'update' | 'copy' | 'ask'>;
  /** Makes a second session, also if nothing in the bundle is new. */
  readonly mustCopy?: boolean;
  /** Refuses to import a new session. */
  readonly mustUpdate?: boolean;
};

export type ImportRefusal =
  | BundleRefusal
  | WriteRefusal
  /** No session here is an earlier, unchanged state of the one in the bundle. */
  | { readonly code: 'nothing_to_update'; readonly from: SessionId }
  /** The bundle continues this session, and nobody said whether to update it or to make a copy. */
  | { readonly code: 'update_or_copy'; readonly sessionId: SessionId; readonly newEvents: number }
  | ChangedMeanwhile;

/**
 * Imports a session from a bundle. Everything is checked before anything is written. Then the appends are written as if
 * they were made here. Until the last one, the session is marked as partial.
 */
export async function importSession(
  services: ImportServices,
  request: ImportRequest,
  onProgress: (progress: ImportProgress) => void = () => undefined,
): Promise<Result<Imported, ImportRefusal>> {
  return safeTry(async function* (): Flow<Imported, ImportRefusal> {
    const { isDryRun, chooseUpdate, mustUpdate = false, mustCopy = false } = request;
    const checked = yield* await check(services, request.bytes, onProgress);
    const unsound = await unsoundWorkflow(services, checked);
    if (unsound !== undefined) return err(unsound);
    const { bundleId, sessionId: from, events, runs, artifacts, salvage } = checked;
    const listed = yield* await services.sessions.list();
    const binned = yield* await services.bin.list();
    const earlier = await findEarlierImport(services, checked, listed);
    const about = { bundleId, from, events, runs, artifacts, salvage, earlier };
    if (mustUpdate && earlier === undefined) return err({ code: 'nothing_to_update', from });
    const isTaken = [...listed, ...binned.map(({ sessionId }) => sessionId)].includes(from);
    if (isDryRun) return ok({ kind: 'would_import', sessionId: isTaken ? undefined : from, ...about });
    // All of the bundle is here already: another copy or another mark would say nothing, unless somebody asks for it.
    if (earlier?.newEvents === 0 && !mustCopy) return ok({ kind: 'unchanged', sessionId: earlier.sessionId, ...about });
    const choice = mustUpdate ? 'update' : mustCopy ? 'copy' : earlier && (await chooseUpdate?.(earlier));
    if (earlier !== undefined && choice === 'ask') {
      return err({ code: 'update_or_copy', sessionId: earlier.sessionId, newEvents: earlier.newEvents });
    }
    // On a new machine there are no keys yet, and a reader cannot create them.
    yield* await services.keyring.open();
    if (earlier !== undefined && choice === 'update') {
      const sessionId = yield* await update(services, checked, earlier);
      return ok({ kind: 'updated', sessionId, ...about });
    }
    const copy: SessionCopy = { ...checked, origin: originOf(services, checked) };
    const written = isTaken
      ? await writeSession(services, copy, { sessionId: services.ids.session(), onProgress })
      : await writeSomewhere(services, { ...copy, sessionId: from }, onProgress);
    return written.map((sessionId) => ({ kind: 'imported', sessionId, ...about }));
  });
}

async function check(
  { tools, yieldNow }: ImportServices,
  bytes: Uint8Array,
  onProgress: (progress: ImportProgress) => void,
): Promise<Result<CheckedBundle, BundleRefusal>> {
  const checking = checkBundle(bytes, tools);
  for (;;) {
    const step = checking.next();
    if (step.done === true) return step.value;
    onProgress({ doing: 'checking', ...step.value });
    await yieldNow();
  }
}

async function update(
  services: ImportServices,
  bundle: CheckedBundle,
  earlier: EarlierImport,
): Promise<Result<SessionId, ImportRefusal>> {
  return safeTry(async function* (): Flow<SessionId, ImportRefusal> {
    yield* await pinAll(services, bundle);
    const origin = originOf(services, bundle);
    return updateImport(services, {
      bundle,
      earlier,
      origin,
      append: (permit, plan) => appendCopied(services, bundle, { permit, plan }),
    });
  });
}

/** Nobody has accepted what is imported yet. */
function originOf({ clock }: Pick<ImportServices, 'clock'>, { producer, sessionId, head }: CheckedBundle): Origin {
  return {
    v: 1,
    kind: 'imported',
    at: clock.nowMs(),
    producer: { ...producer, appVersion: plainVersion(producer.appVersion) },
    sessionId,
    head,
  };
}

/** The check cannot compile patterns, so they are checked here. The engine is loaded only if there are some. */
async function unsoundWorkflow(
  { patterns, tools }: ImportServices,
  bundle: CheckedBundle,
): Promise<BundleRefusal | undefined> {
  for (const workflow of bundle.workflows()) {
    if (!usesPatterns(workflow) || hasSoundPatterns(workflow, await patterns.load())) continue;
    return invalid('wrong_shape', `session/pinnedWorkflows/${sealWorkflow(workflow, tools.sha256).hash}`);
  }
  return undefined;
}

/** Under its own id, or under a new one if that was taken meanwhile. */
async function writeSomewhere(
  services: ImportServices,
  copy: SessionCopy & Pick<CheckedBundle, 'sessionId'>,
  onProgress: (progress: ImportProgress) => void,
): Promise<Result<SessionId, ImportRefusal>> {
  const own = await writeSession(services, copy, { sessionId: copy.sessionId, onProgress });
  if (own.isOk() || !isOccupied(own.error)) return own;
  return writeSession(services, copy, { sessionId: services.ids.session(), onProgress });
}

/** Nothing is added to what is there: sessions are never merged. */
function isOccupied({ code }: ImportRefusal): boolean {
  return code === 'session_locked' || code === 'damaged' || code === 'unknown_version';
}
