import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { SESSION } from '../../../test/examples/ids.ts';
import { EXAMPLE_KEY, MANIFEST_EXAMPLES, SIGNED_EXAMPLES } from '../../../test/examples/manifest.ts';
import { sha256 } from '../../../test/examples/sha256.ts';
import { digestBytesOf, storeKeyOf } from '../../adapters/system.ts';
import { signingKey } from '../token/keyring.ts';
import { chainHead, checkSignatures, eventAtHead, signatureWords } from './log-signatures.ts';
import { chainGenesis, chainOf, type ManifestRecord, signedDigest, type Unchained } from './manifest.ts';

const KEY = storeKeyOf(EXAMPLE_KEY);
const OTHER = storeKeyOf(signingKey(new Uint8Array(32).fill(8)));
const STORE = [KEY.publicKey, OTHER.publicKey];

const appendsOf = (records: readonly ManifestRecord[]) =>
  records.flatMap((segment, i) => {
    if (segment.kind !== 'segment_closed') return [];
    const pins = records.slice(i + 1, i + 1 + segment.pins).filter((record) => record.kind === 'snapshot_pinned');
    return [{ segment, pins }];
  });

const check = (records: readonly ManifestRecord[], keys = STORE) =>
  checkSignatures(SESSION, appendsOf(records), { sha256, bytesOf: digestBytesOf, keys });

/** Rewrites a log so that its chain holds again, and signs each append as asked. */
function rewritten(
  records: readonly ManifestRecord[],
  signer: (append: number) => typeof KEY | undefined,
  change: (record: ManifestRecord, i: number) => object = () => ({}),
): readonly ManifestRecord[] {
  let chain = chainGenesis(SESSION, sha256);
  let append = -1;
  return records.map((record, i) => {
    const { chain: _, sig: __, ...plain } = { sig: undefined, ...record, ...change(record, i) };
    if (record.kind === 'segment_closed') append += 1;
    const key = record.kind === 'segment_closed' ? signer(append) : undefined;
    const signed = key === undefined ? plain : { ...plain, sig: key.sign(signedDigest(chain, plain as never, sha256)) };
    chain = chainOf(chain, signed as Unchained, sha256);
    return { ...signed, chain } as ManifestRecord;
  });
}

const FIRSTS = appendsOf(SIGNED_EXAMPLES).map(({ segment }) => segment.firstEventIndex);

test('a log that is signed from its start says by which key, and one without signatures that only accidents were checked', () => {
  enforces('log_signatures');
  expect(check(SIGNED_EXAMPLES)).toEqual({ kind: 'signed', since: 0, keyids: [KEY.keyid] });
  expect(check(MANIFEST_EXAMPLES)).toEqual({ kind: 'unsigned' });
  expect(signatureWords(check(MANIFEST_EXAMPLES))).toBe('not signed: only accidents were checked');
  expect(signatureWords(check(SIGNED_EXAMPLES))).toBe(
    `signed by this WorkRail store from event 0 on, with key ${KEY.keyid.slice(0, 16)}`,
  );
});

test('a log of an earlier release is signed from the first append that this one wrote, and rotated keys overlap', () => {
  enforces('log_signatures');
  const later = rewritten(MANIFEST_EXAMPLES, (append) => (append < 2 ? undefined : append < 4 ? KEY : OTHER));
  expect(check(later)).toEqual({ kind: 'signed', since: FIRSTS[2], keyids: [KEY.keyid, OTHER.keyid] });
  // Somebody who has only the new key still checks everything that it signed.
  expect(check(later, [OTHER.publicKey])).toEqual({ kind: 'signed', since: FIRSTS[4], keyids: [OTHER.keyid] });
});

test('an unsigned end, an unknown key and a wrong signature are each said plainly', () => {
  enforces('log_signatures');
  const cut = rewritten(MANIFEST_EXAMPLES, (append) => (append < 3 ? KEY : undefined));
  expect(check(cut)).toEqual({ kind: 'unsigned_end', until: (FIRSTS[3] ?? 0) - 1, keyid: KEY.keyid });
  expect(check(SIGNED_EXAMPLES, [OTHER.publicKey])).toMatchObject({ kind: 'unknown_key', keyid: KEY.keyid });
  const forged = rewritten(SIGNED_EXAMPLES, () => KEY).map((record, i) => {
    const old = SIGNED_EXAMPLES[i];
    return i === 0 && record.kind === 'segment_closed' && old?.kind === 'segment_closed'
      ? { ...record, sha256: `sha256:${'0'.repeat(64)}` as const }
      : record;
  });
  expect(check(forged)).toEqual({ kind: 'wrong', at: 0, keyid: KEY.keyid });
});

test('a head that was given out earlier fixes everything before it, also against the key of the store', () => {
  enforces('log_signatures');
  const appends = appendsOf(SIGNED_EXAMPLES);
  const early = chainHead(appends.slice(0, 2))?.slice('sha256:'.length) ?? expect.fail();
  expect(eventAtHead(appends, early)).toBe(appends[1]?.segment.lastEventIndex);
  const longer = (record: ManifestRecord, i: number) =>
    i === 0 && 'bytes' in record ? { bytes: record.bytes + 1 } : {};
  const resigned = rewritten(SIGNED_EXAMPLES, () => KEY, longer);
  expect(check(resigned)).toMatchObject({ kind: 'signed' });
  expect(eventAtHead(appendsOf(resigned), early)).toBeUndefined();
});
