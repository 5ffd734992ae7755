import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { digest, sha256 } from '../../../test/examples/sha256.ts';
import { canonicalBytes } from '../json/canonical-json.ts';
import { plainDigestSchema } from '../log/ids.ts';
import {
  BUNDLE_DEPTH_MAX,
  bundleHead,
  bundleIdOf,
  bundleIdSchema,
  type IntegrityEntry,
  inPathOrder,
} from './bundle-document.ts';
import { shortValue } from './bundle-refusal.ts';
import { isTooDeep } from './json-walk.ts';

const entry = (path: string, of = path): IntegrityEntry => ({
  path,
  sha256: plainDigestSchema.parse(digest(of)),
  bytes: of.length,
});
const ENTRIES = ['session/manifest', 'session/events', 'session/snapshots/b', 'session/snapshots/a'].map((path) =>
  entry(path),
);

test('the id of a bundle depends on its content, not on the order of the list', () => {
  enforces('bundle_envelope_fields');
  const id = bundleIdOf(ENTRIES, sha256);
  expect(bundleIdSchema.safeParse(id).success).toBe(true);
  expect(bundleIdOf([...ENTRIES].reverse(), sha256)).toBe(id);
  for (const [i, { path, ...rest }] of ENTRIES.entries()) {
    const others = [{ path: `${path}x`, ...rest }, entry(path, 'other'), { path, ...rest, bytes: 0 }];
    for (const other of others) expect(bundleIdOf(ENTRIES.with(i, other), sha256)).not.toBe(id);
    expect(bundleIdOf(ENTRIES.toSpliced(i, 1), sha256)).not.toBe(id);
  }
  expect(inPathOrder(ENTRIES).map(({ path }) => path)).toEqual(ENTRIES.map(({ path }) => path).sort());
});

test('the head of a bundle is canonical JSON up to its session', () => {
  enforces('bundle_envelope_fields', 'bundle_single_json');
  const exportedAt = '2026-01-02T03:04:05.678Z';
  const { text, bundleId } = bundleHead({ exportedAt, producer: { appVersion: '1.2.3' } }, ENTRIES, sha256);
  const whole = `${text}{}}`;
  expect(Buffer.from(canonicalBytes(JSON.parse(whole))._unsafeUnwrap()).toString()).toBe(whole);
  expect(JSON.parse(whole)).toEqual({
    bundleSchemaVersion: 1,
    bundleId,
    exportedAt,
    producer: { appVersion: '1.2.3' },
    integrity: { kind: 'sha256_manifest_v1', entries: inPathOrder(ENTRIES) },
    session: {},
  });
});

test('the depth of a value counts the bundle around it', () => {
  enforces('import_limits');
  const nested = (levels: number) => Buffer.from(`${'['.repeat(levels)}${']'.repeat(levels)}`);
  expect([BUNDLE_DEPTH_MAX - 3, BUNDLE_DEPTH_MAX - 2].map((levels) => isTooDeep(nested(levels)))).toEqual([
    false,
    true,
  ]);
});

test('a value in a message is short and well-formed', () => {
  expect([shortValue(undefined), shortValue(3), shortValue({ a: 1 })]).toEqual(['nothing', '3', '{"a":1}']);
  expect(shortValue(`${'x'.repeat(119)}😀`)).toBe(`${'x'.repeat(119)}\ufffd`);
});
