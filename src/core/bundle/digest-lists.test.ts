import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { nodeBundleTools } from '../../adapters/bundle.ts';
import { canonicalBytes, canonicalLines } from '../json/canonical-json.ts';
import { listDigest, misplacedAt, segmentLines } from './digest-lists.ts';

const bytesOf = (value: unknown) => canonicalBytes(value)._unsafeUnwrap();

test('a list that is hashed item by item has the digest and the length of the whole', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue({ maxDepth: 3 }).filter((value) => canonicalBytes(value).isOk())), (list) => {
      const digest = listDigest(nodeBundleTools);
      for (const item of list) digest.add(bytesOf(item));
      const whole = bytesOf(list);
      expect(digest.end()).toEqual({ sha256: nodeBundleTools.sha256(whole), bytes: whole.length });
    }),
  );
});

test('the lines of a segment are its events', () => {
  const events = [{ text: 'one\ntwo' }, { text: '\u2028 😀' }, []];
  const lines = [...segmentLines(canonicalLines(events)._unsafeUnwrap())];
  expect(lines.map((line) => Buffer.from(line).toString())).toEqual(
    events.map((event) => Buffer.from(bytesOf(event)).toString()),
  );
  expect([...segmentLines(new Uint8Array())]).toEqual([]);
});

test('an item whose number is not its position is refused; one without a number is checked elsewhere', () => {
  expect(misplacedAt('session/events', 3, { eventIndex: 3 })).toBeUndefined();
  expect(misplacedAt('session/events', 3, { manifestIndex: 4 })).toBeUndefined();
  expect(misplacedAt('session/events', 3, null)).toBeUndefined();
  expect(misplacedAt('session/events', 3, { eventIndex: '3' })).toEqual({
    code: 'BUNDLE_EVENT_ORDER_INVALID',
    position: 3,
    found: '3',
  });
  expect(misplacedAt('session/manifest', 0, { manifestIndex: 1 })).toEqual({
    code: 'BUNDLE_MANIFEST_ORDER_INVALID',
    position: 0,
    found: '1',
  });
});
