import { err, ok, type Result, safeTry } from 'neverthrow';
import { assert } from '../../core/assert.ts';
import { BUNDLE_BYTES_MAX, bundleHead, type IntegrityEntry, type Producer } from '../../core/bundle/bundle-document.ts';
import type { Flow, OnProgress } from '../../core/flow.ts';
import { canonicalJson, type Sha256Digest } from '../../core/json/canonical-json.ts';
import { defined } from '../../core/json/json-value.ts';
import type { Salvage } from '../../core/log/health.ts';
import type { SessionId } from '../../core/log/ids.ts';
import { encodeUtf8, utf8Length } from '../../core/text/utf8.ts';
import type { BundleOutput, OutputFailure } from '../ports/bundle-output.ts';
import type { LoadRefusal, SessionLog, SessionLogs } from '../ports/session-store.ts';
import { getWorkflow, type LogReader } from './read-intact-part.ts';
import { type Survey, sharedEvent, surveySession, type TooLargeToShare } from './survey-session.ts';

export type ExportServices = LogReader & {
  readonly logs: SessionLogs;
  readonly appVersion: string;
  /** A hash of the settings in effect; `undefined` if there are none. */
  readonly appliedConfigHash: () => Promise<Sha256Digest | undefined>;
  /** ISO 8601, in UTC. */
  readonly now: () => string;
};

export type Exported = {
  readonly sessionId: SessionId;
  readonly bundleId: string;
  readonly events: number;
  readonly artifacts: number;
  readonly bytes: number;
  /** Set if only part of the session is intact. */
  readonly salvage: Salvage | undefined;
};

export type ExportRefusal = LoadRefusal | TooLargeToShare | OutputFailure;

export type ExportRequest = {
  readonly sessionId: SessionId;
  readonly output: BundleOutput;
  /** Keeps the git identity of the author. Without it, a log that names one is no longer the one that was signed. */
  readonly keepsAuthor?: boolean;
};

/**
 * Writes a session as one bundle. The session is read twice, once to measure and once to write, so that no more than
 * one append is in memory. Later appends are not included.
 */
export async function exportSession(
  services: ExportServices,
  request: ExportRequest,
  onProgress: OnProgress = () => undefined,
): Promise<Result<Exported, ExportRefusal>> {
  const { sessionId, output } = request;
  const exported = await write(services, request, onProgress);
  if (exported.isOk()) {
    const finished = await output.finish();
    return finished.isErr() ? err(finished.error) : exported;
  }
  await output.abandon();
  // Collection removes a session at once, which then looks like damage.
  const again = await services.logs.open(sessionId);
  return again.isErr() && again.error.code === 'session_not_found' ? err(again.error) : exported;
}

async function write(
  services: ExportServices,
  { sessionId, output, keepsAuthor = false }: ExportRequest,
  onProgress: OnProgress,
): Promise<Result<Exported, ExportRefusal>> {
  return safeTry(async function* (): Flow<Exported, ExportRefusal> {
    const log = yield* await services.logs.open(sessionId);
    const survey = yield* await surveySession(services, log, { keepsAuthor, onProgress });
    const { entries, events, artifacts, salvage } = survey;
    const envelope = { exportedAt: services.now(), producer: await producerOf(services) };
    const head = bundleHead(envelope, entries, services.tools.sha256);
    const estimate = utf8Length(head.text) + atMost(entries);
    if (estimate > BUNDLE_BYTES_MAX) {
      return err({ code: 'session_too_large', measure: 'bytes', size: estimate, max: BUNDLE_BYTES_MAX });
    }
    let bytes = 0;
    const put = async (text: string): Promise<Result<void, OutputFailure>> => {
      const piece = encodeUtf8(text);
      bytes += piece.length;
      return output.write(piece);
    };
    for await (const piece of piecesOf(services, { log, survey, head: head.text })) {
      if (piece.isErr()) return err(piece.error);
      yield* await put(piece.value);
    }
    return ok({ sessionId, bundleId: head.bundleId, events, artifacts: artifacts.length, bytes, salvage });
  });
}

async function producerOf({ appVersion, appliedConfigHash }: ExportServices): Promise<Producer> {
  const hash = await appliedConfigHash();
  return { appVersion, ...defined({ appliedConfigHash: hash }) };
}

/** An upper bound: every value with its name and punctuation, and the names of the lists and tables. */
function atMost(entries: readonly IntegrityEntry[]): number {
  return entries.reduce((sum, { bytes, path }) => sum + bytes + path.length, 0) + 256;
}

type Pieces = { readonly log: SessionLog; readonly survey: Survey; readonly head: string };
type Piece = Result<string, LoadRefusal>;

/** The canonical JSON of the bundle, with sorted keys. */
async function* piecesOf(services: ExportServices, { log, survey, head }: Pieces): AsyncGenerator<Piece> {
  yield ok(`${head}{`);
  if (survey.artifacts.length > 0) {
    yield ok('"artifacts":');
    yield* table(services, survey.artifacts, async (digest) =>
      (await services.artifacts.get(digest)).map(services.tools.toBase64),
    );
    yield ok(',');
  }
  yield ok('"events":');
  yield* events(services, log, survey);
  yield ok(',"manifest":[');
  for (const [i, { shared }] of survey.appends.entries()) {
    const { segment, pins } = shared;
    yield ok(`${i === 0 ? '' : ','}${[segment, ...pins].map(canonical).join(',')}`);
  }
  yield ok('],"pinnedWorkflows":');
  yield* table(services, survey.workflows, (hash) => getWorkflow(services, hash));
  if (survey.salvage !== undefined) yield ok(`,"salvage":${canonical(survey.salvage)}`);
  yield ok(`,"sessionId":${canonical(log.sessionId)},"snapshots":`);
  yield* table(services, survey.snapshots, (ref) => services.snapshots.get(ref));
  yield ok('}}');
}

async function* table<Key extends string>(
  { yieldNow }: ExportServices,
  keys: readonly Key[],
  read: (key: Key) => Promise<Result<unknown, LoadRefusal>>,
): AsyncGenerator<Piece> {
  yield ok('{');
  for (const [position, key] of keys.entries()) {
    await yieldNow();
    const value = await read(key);
    yield value.map((content) => `${position === 0 ? '' : ','}${canonical(key)}:${canonical(content)}`);
  }
  yield ok('}');
}

async function* events({ yieldNow }: ExportServices, log: SessionLog, { appends }: Survey): AsyncGenerator<Piece> {
  yield ok('[');
  for (const [i, { stored, shared }] of appends.entries()) {
    await yieldNow();
    const read = await log.readEvents(stored);
    const isWhole = stored.segment.sha256 === shared.segment.sha256;
    const put = (value: unknown) => canonical(isWhole ? value : sharedEvent(value));
    yield read.map((values) => `${i === 0 ? '' : ','}${values.map(put).join(',')}`);
  }
  yield ok(']');
}

function canonical(value: unknown): string {
  const text = canonicalJson(value);
  assert(text.isOk(), 'what is stored is JSON');
  return text.value;
}
