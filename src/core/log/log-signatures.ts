import * as z from 'zod';
import type { Sha256, Sha256Digest } from '../json/canonical-json.ts';
import { visibleLine } from '../text/visible-text.ts';
import { plural } from '../text/words.ts';
import type { SessionId } from './ids.ts';
import { chainGenesis, type SegmentClosed, type SnapshotPinned, signedDigest } from './manifest.ts';

/** A public key that the signatures of a log can be checked with. */
export type LogKey = {
  readonly keyid: string;
  readonly isSignedBy: (message: Uint8Array, sig: string) => boolean;
};

/** What checking signatures needs. */
export type SignatureMeans = {
  readonly sha256: Sha256;
  /** A digest as the 32 bytes that are signed. */
  readonly bytesOf: (digest: Sha256Digest) => Uint8Array;
  readonly keys: readonly LogKey[];
};

type Append = { readonly segment: SegmentClosed; readonly pins: readonly SnapshotPinned[] };

const keyid = z.string().regex(/^[0-9a-f]{64}$/);
const eventIndex = z.int().min(0);

/** What the signatures of a log show. Events are counted from 0. */
export const signatureStateSchema = z.discriminatedUnion('kind', [
  /** No append is signed. The chain detects accidents only. */
  z.strictObject({ kind: z.literal('unsigned') }),
  /** Each append from `since` to the end is signed by one of the keys; the last key signed the last append. */
  z.strictObject({ kind: z.literal('signed'), since: eventIndex, keyids: z.array(keyid).min(1) }),
  /** Appends were signed up to `until`, and the ones after it are not. */
  z.strictObject({ kind: z.literal('unsigned_end'), until: eventIndex, keyid }),
  /** The last append is signed by a key that is not known here. */
  z.strictObject({ kind: z.literal('unknown_key'), until: eventIndex, keyid }),
  /** The signature of the append that starts at `at` does not belong to it. */
  z.strictObject({ kind: z.literal('wrong'), at: eventIndex, keyid }),
]);
export type SignatureState = z.infer<typeof signatureStateSchema>;

/**
 * Checks every signature of a log whose chain holds. A signature covers everything before it through the chain, so the
 * last ones decide: what is before `since` is fixed only as it was when that append was written.
 */
export function checkSignatures(
  sessionId: SessionId,
  appends: readonly Append[],
  means: SignatureMeans,
): SignatureState {
  let chain = chainGenesis(sessionId, means.sha256);
  let state: SignatureState = { kind: 'unsigned' };
  for (const { segment, pins } of appends) {
    const { firstEventIndex, lastEventIndex } = segment;
    const { kind, keyid: by } = appendSignature(chain, segment, means);
    if (kind === 'wrong') return { kind, at: firstEventIndex, keyid: by };
    if (kind === 'none') state = afterUnsigned(state, firstEventIndex);
    else if (kind === 'unknown_key') state = { kind, until: lastEventIndex, keyid: by };
    else state = afterSigned(state, firstEventIndex, by);
    chain = (pins.at(-1) ?? segment).chain;
  }
  return state;
}

/** What the signature of one append is worth, after the chain value before it. Only `signed` says that a known key made it. */
export function appendSignature(
  chain: Sha256Digest,
  segment: SegmentClosed,
  { sha256, bytesOf, keys }: SignatureMeans,
): { readonly kind: 'none' | 'unknown_key' | 'wrong' | 'signed'; readonly keyid: string } {
  const { sig } = segment;
  if (sig === undefined) return { kind: 'none', keyid: '' };
  const key = keys.find((known) => known.keyid === sig.keyid);
  if (key === undefined) return { kind: 'unknown_key', keyid: sig.keyid };
  const isRight = key.isSignedBy(bytesOf(signedDigest(chain, segment, sha256)), sig.sig);
  return { kind: isRight ? 'signed' : 'wrong', keyid: sig.keyid };
}

function afterUnsigned(state: SignatureState, firstEventIndex: number): SignatureState {
  if (state.kind === 'signed') {
    return { kind: 'unsigned_end', until: firstEventIndex - 1, keyid: state.keyids.at(-1) ?? '' };
  }
  return state.kind === 'unknown_key' ? { kind: 'unsigned_end', until: state.until, keyid: state.keyid } : state;
}

function afterSigned(state: SignatureState, firstEventIndex: number, by: string): SignatureState {
  if (state.kind !== 'signed') return { kind: 'signed', since: firstEventIndex, keyids: [by] };
  return { ...state, keyids: [...state.keyids.filter((known) => known !== by), by] };
}

/** The chain value after the last record: anyone who keeps it can see later whether the history before it is the same. */
export function chainHead(appends: readonly Append[]): Sha256Digest | undefined {
  const last = appends.at(-1);
  return last && (last.pins.at(-1) ?? last.segment).chain;
}

/** The last event before a head that was given out earlier; `undefined` if this log never had that head. */
export function eventAtHead(appends: readonly Append[], head: string): number | undefined {
  return appends.find(({ segment, pins }) => [segment, ...pins].some(({ chain }) => chain === `sha256:${head}`))
    ?.segment.lastEventIndex;
}

const KEYID_SHOWN = 16;

/** The start of a key's name, which is enough to tell keys apart. */
export function shortKeyid(id: string): string {
  return id.slice(0, KEYID_SHOWN);
}

/** The state in one sentence. It never says more than was checked: anyone who reads the folder of a store has its key. */
export function signatureWords(state: SignatureState, by = 'this WorkRail store'): string {
  switch (state.kind) {
    case 'unsigned':
      return 'not signed: only accidents were checked';
    case 'signed': {
      const { since, keyids } = state;
      const names = keyids.map(shortKeyid);
      const key = `${names.length === 1 ? 'key' : 'keys'} ${names.join(', ')}`;
      return `signed by ${by} from event ${since} on, with ${key}`;
    }
    case 'unsigned_end':
      return `signed with key ${shortKeyid(state.keyid)} up to event ${state.until}; what follows is not signed`;
    case 'unknown_key':
      return `not signed by a key that is known here: the signature names key ${shortKeyid(state.keyid)}, which was not checked`;
    default:
      return `the signature of event ${state.at} with key ${shortKeyid(state.keyid)} is wrong`;
  }
}

const HEAD_USE =
  'Anyone who keeps these 64 digits can check later whether any event up to this point was changed, even if somebody signed the changed log again.';

/** A session with what its signatures show, and the answers of people in it. */
type SignedSession = {
  readonly sessionId: SessionId;
  readonly signature?: {
    readonly log: SignatureState;
    readonly head?: string;
    readonly approvals: readonly { readonly statement: string; readonly signedBy?: string }[];
  };
};

/** What is signed and by whom, one sentence each; empty where signatures were not checked. */
export function signatureReport(sessions: readonly SignedSession[]): readonly string[] {
  return sessions.flatMap(({ sessionId, signature }) => {
    if (signature === undefined) return [];
    const { log, head, approvals } = signature;
    const signed = approvals.flatMap(({ statement, signedBy }) =>
      signedBy === undefined ? [] : [`${statement} with the signature of ${visibleLine(signedBy)}`],
    );
    const rest = approvals.length - signed.length;
    const answers = [...signed, ...(rest === 0 ? [] : [`${plural(rest, 'answer')} without a signature`])];
    return [
      `The log of ${sessionId} is ${signatureWords(log)}.`,
      ...(head === undefined ? [] : [`Its head is ${head}. ${HEAD_USE}`]),
      `Answers given by people: ${answers.length === 0 ? 'none' : answers.join(', ')}.`,
      `This report itself is not signed. What was hidden in it is listed above. To give others a file that they can check, run: workrail export ${sessionId} --as passport.`,
    ];
  });
}
