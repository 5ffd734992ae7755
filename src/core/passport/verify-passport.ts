import { err, ok, type Result, safeTry } from 'neverthrow';
import { canonicalJson, canonicalLines, ownJsonBytes, type Sha256Digest } from '../json/canonical-json.ts';
import type { JsonObject } from '../json/json-value.ts';
import { parseDocument } from '../log/document-schema.ts';
import type { SessionEvent } from '../log/event.ts';
import type { SessionId } from '../log/ids.ts';
import type { LogKey } from '../log/log-signatures.ts';
import { chainGenesis, chainOf, type SegmentClosed, type SnapshotPinned, signedDigest } from '../log/manifest.ts';
import { hasItsPins } from '../log/plan/append-plan.ts';
import { bytesOfHex } from '../text/binary-text.ts';
import {
  envelopeSchema,
  leafOf,
  type PassportAppend,
  type PassportTools,
  type Predicate,
  preAuthEncoding,
  rootOf,
  type Statement,
  statementSchema,
  subjectOf,
} from './passport.ts';
import { factsOf, isRunOf, treeOfAttestation } from './summary.ts';

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
    | 'head_missing';
  readonly place: string;
};

export type VerifiedPassport = { readonly statement: Statement; readonly keyid: string };

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
    yield* checkLog(statement.predicate, { key, head, tools });
    yield* checkSummary(statement, tools);
    return ok({ statement, keyid });
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

function checkLeaves({ subject, predicate }: Statement, tools: PassportTools): Result<void, PassportRefusal> {
  const { session, leaves, events, withheld } = predicate;
  const { root } = subjectOf({ subject });
  const wrong = (place: string) => err(refusal('wrong_leaf', place));
  if (leaves.length !== session.events || events.length !== session.events) return wrong('session');
  if (root !== rootOf(leaves, tools)) return wrong('subject');
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

type LogChecks = { readonly key: LogKey; readonly head: string | undefined; readonly tools: PassportTools };

/** Recomputes the chain from the events wherever all of an append is shown. */
function checkLog(predicate: Predicate, checks: LogChecks): Result<void, PassportRefusal> {
  const { log, session, events } = predicate;
  let chain: Sha256Digest | undefined = chainGenesis(session.id as SessionId, checks.tools.sha256);
  let [next, index, signedSince]: [number, number | undefined, number | null] = [0, 0, null];
  let isHeadSeen = checks.head === undefined;
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
      signedSince = append.record.sig === undefined ? null : (signedSince ?? firstEventIndex);
    } else {
      const isNeeded = chain === undefined || shown.includes(null);
      if (!isNeeded) return wrong();
      ({ chain } = append as { readonly chain?: Sha256Digest });
      index = undefined;
      signedSince = chain === undefined ? null : (signedSince ?? firstEventIndex);
    }
    isHeadSeen ||= chain === `sha256:${checks.head}`;
  }
  if (next !== session.events || chain !== log.head) return err(refusal('wrong_chain', 'log/head'));
  if (signedSince !== log.signedSince || !log.appends.every(isNamed(log)))
    return err(refusal('wrong_chain', 'log/signedSince'));
  return isHeadSeen ? ok(undefined) : err(refusal('head_missing', 'log'));
}

/** Whether the key of a shown signature is among the keys of the signed part. */
function isNamed({ signedSince, keyids }: Predicate['log']) {
  return (append: PassportAppend) => {
    if (!('record' in append) || signedSince === null || append.record.firstEventIndex < signedSince) return true;
    return append.record.sig !== undefined && keyids.includes(append.record.sig.keyid);
  };
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
  { shown, chain, sessionId, key, tools }: Before,
): Sha256Digest | undefined {
  const events = shown.flatMap((item) => (item === null ? [] : [item.event]));
  const lines = canonicalLines(events);
  if (chain === undefined || lines.isErr() || events.length !== shown.length) return undefined;
  if (record.sha256 !== tools.sha256(lines.value) || record.bytes !== lines.value.length) return undefined;
  if (record.pins !== pins.length || !hasItsPins(events as unknown as readonly SessionEvent[], pins)) return undefined;
  const { sig } = record;
  const isOurs = sig?.keyid === key.keyid;
  if (isOurs && !key.isSignedBy(bytesOfHex(signedDigest(chain, record, tools.sha256).slice(7)), sig.sig))
    return undefined;
  let after = chain;
  for (const [i, item] of [record, ...pins].entries()) {
    after = chainOf(after, item, tools.sha256);
    if (item.chain !== after || item.sessionId !== sessionId) return undefined;
    if (item.manifestIndex !== record.manifestIndex + i) return undefined;
  }
  return after;
}

/** The summary lists exactly what the shown events say; what it says of withheld events is the store's word. */
function checkSummary({ subject, predicate }: Statement, tools: PassportTools): Result<void, PassportRefusal> {
  const { events } = predicate;
  const { tree } = subjectOf({ subject });
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
  for (const check of predicate.checks) {
    const ran = check.ran === null ? undefined : shown(check.ran);
    if (check.ran !== null && check.ran >= check.event) return wrong('checks');
    if (check.ran !== null && ran === undefined) continue;
    if (ran !== undefined && !isRunOf(ran, check)) return wrong('checks');
    if (check.tree !== treeOfAttestation(ran, tree, tools)) return wrong('checks');
  }
  for (const { event, tree: stated } of predicate.approvals) {
    const said = shown(event);
    if (said !== undefined && stated !== treeOfAttestation(said, tree, tools)) return wrong('approvals');
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
