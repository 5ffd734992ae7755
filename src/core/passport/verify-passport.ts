import { err, ok, type Result, safeTry } from 'neverthrow';
import { canonicalJson, canonicalLines, ownJsonBytes, type Sha256Digest } from '../json/canonical-json.ts';
import type { JsonObject } from '../json/json-value.ts';
import { parseDocument } from '../log/document-schema.ts';
import type { SessionEvent } from '../log/event.ts';
import type { SessionId } from '../log/ids.ts';
import { appendSignature, type LogKey } from '../log/log-signatures.ts';
import { chainGenesis, chainOf, type SegmentClosed, type SnapshotPinned } from '../log/manifest.ts';
import { hasItsPins } from '../log/plan/append-plan.ts';
import { bytesOfHex } from '../text/binary-text.ts';
import {
  envelopeSchema,
  leafOf,
  type PassportStatement,
  type PassportTools,
  type Predicate,
  preAuthEncoding,
  rootOfLeaves,
  statementSchema,
  subjectOf,
} from './passport.ts';
import { factsOf, isReadable, isRunOf, stepNodes, treeOfAttestation } from './summary.ts';

/** Why a passport does not hold; `place` names the part. */
export type PassportRefusal = {
  readonly code:
    | 'not_canonical'
    | 'wrong_shape'
    | 'unknown_key'
    | 'wrong_signature'
    | 'wrong_leaf'
    | 'wrong_chain'
    | 'wrong_summary'
    | 'head_missing'
    /** Events before the head are withheld, so nobody can recompute it. */
    | 'head_withheld';
  readonly place: string;
};

export type VerifiedPassport = {
  readonly statement: PassportStatement;
  readonly keyid: string;
  /** From which event on the log is signed by keys that were given; null if the end of it is not. */
  readonly signedSince: number | null;
};

export type PassportChecks = {
  readonly keys: readonly LogKey[];
  /** A head that was given out earlier: this session must have had it. */
  readonly head?: string | undefined;
  readonly tools: PassportTools;
};

/** Checks everything in a passport that follows from the file and the public key. */
export function verifyPassport(bytes: Uint8Array, checks: PassportChecks): Result<VerifiedPassport, PassportRefusal> {
  const { keys, head, tools } = checks;
  return safeTry(function* () {
    const envelope = yield* parseDocument(envelopeSchema, yield* canonicalValue(bytes, 'envelope', tools)).mapErr(
      shapeOf('envelope'),
    );
    const [{ keyid, sig }] = envelope.signatures;
    const payload = tools.fromBase64(envelope.payload);
    if (payload === undefined || tools.fromBase64(sig) === undefined) return err(refusal('not_canonical', 'base64'));
    const key = keys.find((known) => known.keyid === keyid);
    if (key === undefined) return err(refusal('unknown_key', keyid));
    if (!key.isSignedBy(preAuthEncoding(payload), sig)) return err(refusal('wrong_signature', 'envelope'));
    const statement = yield* parseDocument(statementSchema, yield* canonicalValue(payload, 'payload', tools)).mapErr(
      shapeOf('payload'),
    );
    yield* checkLeaves(statement, tools);
    yield* checkEvents(statement.predicate);
    const signedSince = yield* checkLog(statement.predicate, { keys, head, tools });
    yield* checkSummary(statement, tools);
    return ok({ statement, keyid, signedSince });
  });
}

function refusal(code: PassportRefusal['code'], place: string): PassportRefusal {
  return { code, place };
}

function shapeOf(part: string) {
  return ({ path }: { readonly path: string }) => refusal('wrong_shape', `${part}${path}`);
}

/** A value whose bytes are exactly what RFC 8785 writes for it. */
function canonicalValue(bytes: Uint8Array, place: string, tools: PassportTools): Result<unknown, PassportRefusal> {
  const value = tools.parseJson(bytes);
  const text = value.isOk() ? canonicalJson(value.value) : undefined;
  if (value.isErr() || text === undefined || text.isErr()) return err(refusal('not_canonical', place));
  const again = ownJsonBytes(value.value);
  const isSame = again.length === bytes.length && again.every((byte, i) => byte === bytes[i]);
  return isSame ? ok(value.value) : err(refusal('not_canonical', place));
}

function checkLeaves({ subject, predicate }: PassportStatement, tools: PassportTools): Result<void, PassportRefusal> {
  const { session, leaves, events, withheld } = predicate;
  const { root } = subjectOf({ subject });
  const wrong = (place: string) => err(refusal('wrong_leaf', place));
  if (leaves.length !== session.events || events.length !== session.events) return wrong('session');
  if (root !== rootOfLeaves(leaves, tools)) return wrong('subject');
  const named = subject.map(({ name }) => name).join();
  if (named !== session.id && named !== `commit,tree,${session.id}`) return wrong('subject');
  const missing = events.flatMap((shown, i) => (shown === null ? [i] : []));
  if (missing.join() !== withheld.events.join()) return wrong('withheld');
  for (const [i, shown] of events.entries()) {
    if (shown === null) continue;
    const { salt, event } = shown;
    if (leafOf(bytesOfHex(salt), event, tools) !== leaves[i]) return wrong(`events/${i}`);
    if (event['eventIndex'] !== i || event['sessionId'] !== session.id) return wrong(`events/${i}`);
  }
  return ok(undefined);
}

/** What is read of an event below is there, in every event that is shown. */
function checkEvents({ events }: Predicate): Result<void, PassportRefusal> {
  const i = events.findIndex((shown) => shown !== null && !isReadable(shown.event));
  return i === -1 ? ok(undefined) : err(refusal('wrong_shape', `payload/predicate/events/${i}/event`));
}

type LogChecks = Pick<PassportChecks, 'keys' | 'head' | 'tools'>;

/**
 * Recomputes the chain from the events wherever all of an append is shown, and answers from which event on it is signed
 * by a given key. A head counts only where every record up to it was recomputed: what a hidden append says is not checked.
 */
function checkLog(predicate: Predicate, checks: LogChecks): Result<number | null, PassportRefusal> {
  const { log, session, events } = predicate;
  let chain: Sha256Digest | undefined = chainGenesis(session.id as SessionId, checks.tools.sha256);
  let [next, index]: [number, number | undefined] = [0, 0];
  let [signedSince, checkedSince]: [number | null, number | null] = [null, null];
  let [isHeadSeen, isRecomputed] = [checks.head === undefined, true];
  // A hidden signature is the word of the store, which counts only if every key that it names was given.
  const isEachKeyGiven = log.keyids.every((keyid) => checks.keys.some((key) => key.keyid === keyid));
  for (const [i, append] of log.appends.entries()) {
    const wrong = () => err(refusal('wrong_chain', `log/appends/${i}`));
    const { firstEventIndex, lastEventIndex } = 'record' in append ? append.record : append;
    if (firstEventIndex !== next || lastEventIndex < firstEventIndex || lastEventIndex >= session.events)
      return wrong();
    next = lastEventIndex + 1;
    const shown = events.slice(firstEventIndex, next);
    if ('record' in append) {
      const after = recordedChain(append, { shown, chain, sessionId: session.id, ...checks });
      if (after === undefined || (index !== undefined && append.record.manifestIndex !== index)) return wrong();
      index = append.record.manifestIndex + 1 + append.pins.length;
      chain = after;
      const by = append.record.sig?.keyid;
      signedSince = by !== undefined && log.keyids.includes(by) ? (signedSince ?? firstEventIndex) : null;
      checkedSince = checks.keys.some(({ keyid }) => keyid === by) ? (checkedSince ?? firstEventIndex) : null;
    } else {
      const isNeeded = chain === undefined || shown.includes(null);
      if (!isNeeded) return wrong();
      ({ chain } = append as { readonly chain?: Sha256Digest });
      index = undefined;
      isRecomputed = false;
      signedSince = chain === undefined ? null : (signedSince ?? firstEventIndex);
      checkedSince = chain === undefined || !isEachKeyGiven ? null : (checkedSince ?? firstEventIndex);
    }
    isHeadSeen ||= isRecomputed && chain === `sha256:${checks.head}`;
  }
  if (next !== session.events || chain !== log.head) return err(refusal('wrong_chain', 'log/head'));
  if (signedSince !== log.signedSince || (signedSince !== null && log.keyids.length === 0))
    return err(refusal('wrong_chain', 'log/signedSince'));
  if (!isHeadSeen) return err(refusal(isRecomputed ? 'head_missing' : 'head_withheld', 'log'));
  return ok(signedSince === null ? null : checkedSince);
}

type Recorded = { readonly record: SegmentClosed; readonly pins: readonly SnapshotPinned[] };
type Before = LogChecks & {
  readonly shown: Predicate['events'];
  readonly chain: Sha256Digest | undefined;
  readonly sessionId: string;
};

/** The chain value after an append; `undefined` if its records are not those of its events. */
function recordedChain(
  { record, pins }: Recorded,
  { shown, chain, sessionId, keys, tools }: Before,
): Sha256Digest | undefined {
  const events = shown.flatMap((item) => (item === null ? [] : [item.event]));
  const lines = canonicalLines(events);
  if (chain === undefined || lines.isErr() || events.length !== shown.length) return undefined;
  if (record.sha256 !== tools.sha256(lines.value) || record.bytes !== lines.value.length) return undefined;
  if (record.pins !== pins.length || !hasItsPins(events as unknown as readonly SessionEvent[], pins)) return undefined;
  const means = { sha256: tools.sha256, bytesOf: (digest: string) => bytesOfHex(digest.slice('sha256:'.length)), keys };
  if (appendSignature(chain, record, means).kind === 'wrong') return undefined;
  let after = chain;
  for (const [i, item] of [record, ...pins].entries()) {
    after = chainOf(after, item, tools.sha256);
    if (item.chain !== after || item.sessionId !== sessionId) return undefined;
    if (item.manifestIndex !== record.manifestIndex + i) return undefined;
  }
  return after;
}

/** The summary lists exactly what the shown events say; what it says of withheld events is the store's word. */
function checkSummary({ subject, predicate }: PassportStatement, tools: PassportTools): Result<void, PassportRefusal> {
  const { events } = predicate;
  const about = subjectOf({ subject });
  const wrong = (place: string) => err(refusal('wrong_summary', place));
  const shown = (i: number): JsonObject | undefined => events[i]?.event as JsonObject | undefined;
  const facts = events.flatMap((item, i) => (item === null ? [] : [factsOf(item.event as JsonObject, i)]));
  for (const part of ['runs', 'gaps', 'checks', 'approvals'] as const) {
    const stated = predicate[part];
    if (stated.some(({ event }, i) => event >= events.length || event < (stated[i - 1]?.event ?? 0)))
      return wrong(part);
    const bare = stated.filter(({ event }) => shown(event) !== undefined).map(withoutJudgement);
    const expected = facts.flatMap((fact) => fact[part] as readonly object[]);
    if (textOf(bare) !== textOf(expected)) return wrong(part);
  }
  const all = events.map((item) => item?.event as JsonObject | undefined);
  const stepOf = stepNodes(all);
  for (const check of predicate.checks) {
    const ran = check.ran === null ? undefined : shown(check.ran);
    if (check.ran !== null && check.ran >= check.event) return wrong('checks');
    const step = stepOf(shown(check.event));
    // A newer run at the same attempts is the one that counts, whatever it showed.
    const isNewer = (event: JsonObject | undefined, i: number) =>
      check.ran !== null && i > check.ran && i < check.event && event !== undefined && isRunOf(event, check);
    if (step !== undefined && all.some((event, i) => isNewer(event, i) && stepOf(event) === step))
      return wrong('checks');
    if (check.ran !== null && ran === undefined) continue;
    if (ran !== undefined && !isRunOf(ran, check)) return wrong('checks');
    // The same step on another branch or in another round is another one.
    if (ran !== undefined && step !== undefined && (stepOf(ran) ?? step) !== step) return wrong('checks');
    if (check.tree !== treeOfAttestation(ran, about, tools)) return wrong('checks');
  }
  for (const { event, tree: stated } of predicate.approvals) {
    const said = shown(event);
    if (said !== undefined && stated !== treeOfAttestation(said, about, tools)) return wrong('approvals');
  }
  return ok(undefined);
}

/** Without what only the store that exported it can know. */
function withoutJudgement(stated: object): object {
  const {
    status: _,
    isOpen: __,
    isOnLine: ___,
    ran: ____,
    tree: _____,
    ...facts
  } = stated as { [name: string]: unknown };
  return facts;
}

function textOf(value: readonly object[]): string {
  return canonicalJson(value).unwrapOr('');
}
