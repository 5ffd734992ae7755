import { err, ok, type Result, safeTry } from 'neverthrow';
import type { Flow, OnProgress } from '../core/flow.ts';
import type { JsonValue } from '../core/json/json-value.ts';
import type { SessionEvent } from '../core/log/event.ts';
import type { ExecutionSnapshot } from '../core/log/execution-snapshot.ts';
import type { ArtifactDigest, SessionId, SnapshotRef } from '../core/log/ids.ts';
import { checkSignatures, type SignatureState } from '../core/log/log-signatures.ts';
import { makePassport, type PassportSource } from '../core/passport/make-passport.ts';
import { uncheckableAnswers } from '../core/passport/merge-gate.ts';
import type { PassportStatement } from '../core/passport/passport.ts';
import type { WithheldReason, Withholding } from '../core/passport/withhold.ts';
import { bytesOfHex } from '../core/text/binary-text.ts';
import { currentObservation } from '../core/views/node-facts.ts';
import type { SessionView } from '../core/views/session-view.ts';
import { type LogReader, readIntactPart } from './bundle/read-intact-part.ts';
import type { PublicKey, StoreKey } from './ports/keyring-store.ts';
import type { LoadRefusal, SessionLogs } from './ports/session-store.ts';
import type { StoreFailure } from './ports/store-failure.ts';
import type { CommitReader } from './ports/workspace-observer.ts';

export type PassportServices = LogReader & {
  readonly logs: SessionLogs;
  readonly commits: CommitReader;
  /** The key that signs; the first call on a machine creates it. */
  readonly storeKey: () => Promise<Result<StoreKey, StoreFailure>>;
  /** The public keys of this store, the current one first. */
  readonly ownKeys: () => Promise<Result<readonly PublicKey[], StoreFailure>>;
  readonly appVersion: string;
  readonly now: () => string;
};

export type PassportRequest = {
  readonly sessionId: SessionId;
  /** The commit that the run is about. Default: HEAD of the workspace of the run. */
  readonly ref: string | undefined;
  readonly withholding: Withholding;
  /** Shows the event that names the author. */
  readonly keepsAuthor?: boolean;
};

export type ExportedPassport = {
  readonly bytes: Uint8Array;
  readonly statement: PassportStatement;
  /** Why each event that is withheld is. */
  readonly withheld: ReadonlyMap<number, WithheldReason>;
  /** The events with signed answers that nobody can check with this passport. */
  readonly uncheckable: readonly number[];
  readonly keyid: string;
  readonly signature: SignatureState;
};

export type PassportExportRefusal =
  | LoadRefusal
  /** Only part of the session is intact, and a passport is about a whole one. */
  | { readonly code: 'session_partial'; readonly sessionId: SessionId }
  /** A record of the log is signed, but with another content. */
  | { readonly code: 'log_signature_wrong'; readonly sessionId: SessionId; readonly at: number }
  | { readonly code: 'commit_unknown'; readonly ref: string }
  | { readonly code: 'event_unknown'; readonly event: number; readonly events: number };

/** Makes a passport of a session as it is now. */
export async function exportPassport(
  services: PassportServices,
  { sessionId, ref, withholding: asked, keepsAuthor = false }: PassportRequest,
  onProgress: OnProgress = () => undefined,
): Promise<Result<ExportedPassport, PassportExportRefusal>> {
  return safeTry(async function* (): Flow<ExportedPassport, PassportExportRefusal> {
    const source = yield* await readSource(services, sessionId, onProgress);
    const { length } = source.events;
    const beyond = asked.events.find((event) => event >= length);
    if (beyond !== undefined) return err({ code: 'event_unknown', event: beyond, events: length });
    const named = source.events.filter(({ by }) => !keepsAuthor && by?.author !== undefined);
    const authors = named.map(({ eventIndex }) => eventIndex).filter((event) => !asked.events.includes(event));
    const withholding = { ...asked, authors };
    const keys = yield* await services.ownKeys();
    const means = { sha256: services.tools.sha256, bytesOf: (digest: string) => bytesOfHex(digest.slice(7)), keys };
    const signature = checkSignatures(sessionId, source.appends, means);
    if (signature.kind === 'wrong') return err({ code: 'log_signature_wrong', sessionId, at: signature.at });
    const folder = workspaceOf(source.view);
    const subject =
      folder === undefined && ref === undefined
        ? undefined
        : await services.commits.commitAt(folder ?? '.', ref ?? 'HEAD');
    if (ref !== undefined && subject === undefined) return err({ code: 'commit_unknown', ref });
    const key = yield* await services.storeKey();
    const made = { at: services.now(), by: `workrail ${services.appVersion}` };
    const { saltOf, keyid } = key;
    const passport = makePassport(source, { subject, withholding, made, tools: services.tools, saltOf, key, keys });
    const uncheckable = uncheckableAnswers(passport.statement.predicate, services.tools.sha256);
    return ok({ ...passport, uncheckable, keyid, signature });
  });
}

/** The folder of the run as it was observed last. */
function workspaceOf({ observations }: SessionView): string | undefined {
  return currentObservation(observations, 'repo_root')?.data.value.value;
}

async function readSource(
  services: PassportServices,
  sessionId: SessionId,
  onProgress: OnProgress,
): Promise<Result<PassportSource, PassportExportRefusal>> {
  return safeTry(async function* (): Flow<PassportSource, PassportExportRefusal> {
    const log = yield* await services.logs.open(sessionId);
    const events: SessionEvent[] = [];
    const snapshots = new Map<SnapshotRef, ExecutionSnapshot>();
    const contents = new Map<ArtifactDigest, JsonValue>();
    const { view, health } = yield* await readIntactPart(services, log, {
      onProgress,
      each: ({ plan }) => {
        events.push(...plan.events);
        for (const [name, snapshot] of plan.snapshots) snapshots.set(name, snapshot);
        for (const [name, bytes] of plan.artifacts) {
          const content = services.tools.parseJson(bytes);
          if (content.isOk()) contents.set(name, content.value as JsonValue);
        }
      },
    });
    if (health !== undefined) return err({ code: 'session_partial', sessionId });
    return ok({ sessionId, appends: log.appends, events, snapshots, contents, view });
  });
}
