import { expect, test } from 'vitest';
import { digest } from '../../../test/examples/sha256.ts';
import { nodeBundleTools } from '../../adapters/bundle.ts';
import { indexBundle } from './bundle-index.ts';

const KEY = digest('snapshot');
const SMALL = {
  session: {
    snapshots: { [KEY]: { v: 1 } },
    pinnedWorkflows: {},
    sessionId: 'sess_x',
    manifest: [],
    events: [1, { two: [2] }],
  },
  producer: {},
  exportedAt: 'now',
  bundleSchemaVersion: 1,
  bundleId: 'bundle_x',
  integrity: { kind: 'k', entries: [] },
};

const indexOf = (text: string) => indexBundle(Buffer.from(text), nodeBundleTools);
const refusalOf = (change: object) => indexOf(JSON.stringify({ ...SMALL, ...change }))._unsafeUnwrapErr();

test('the index of a bundle leads to every value, list item and piece of content', () => {
  const { bytes, values, lists, tables } = indexOf(JSON.stringify(SMALL, null, 2))._unsafeUnwrap();
  const at = (span: readonly [number, number] | undefined) =>
    JSON.parse(Buffer.from(bytes.subarray(...(span ?? [0, 0]))).toString()) as unknown;
  expect(Object.fromEntries([...values].map(([path, span]) => [path, at(span)]))).toEqual({
    'session/sessionId': 'sess_x',
    producer: {},
    exportedAt: 'now',
    bundleSchemaVersion: 1,
    bundleId: 'bundle_x',
    'integrity/kind': 'k',
  });
  expect(lists['session/events'].map(at)).toEqual([1, { two: [2] }]);
  expect([...tables.snapshots].map(([key, span]) => [key, at(span)])).toEqual([[KEY, { v: 1 }]]);
});

test('an unknown version is reported before anything that this version does not allow', () => {
  expect(refusalOf({ bundleSchemaVersion: 2, session: [], more: 1 })).toEqual({
    code: 'BUNDLE_UNSUPPORTED_VERSION',
    path: 'bundleSchemaVersion',
    version: '2',
  });
  expect(refusalOf({ bundleSchemaVersion: '1' })).toMatchObject({ version: '"1"' });
  expect(refusalOf({ bundleSchemaVersion: undefined })).toMatchObject({ reason: 'missing_field' });
});

test('an unknown, missing, repeated or wrong field of a bundle is reported with its path', () => {
  const oddity = (reason: string, path: string) => ({ code: 'BUNDLE_INVALID_FORMAT', reason, path });
  const { session } = SMALL;
  expect(refusalOf({ session: { ...session, extra: 1 } })).toEqual(oddity('unknown_field', 'session/extra'));
  expect(refusalOf({ session: { ...session, events: {} } })).toEqual(oddity('wrong_shape', 'session/events'));
  expect(refusalOf({ session: { ...session, snapshots: [] } })).toEqual(oddity('wrong_shape', 'session/snapshots'));
  expect(refusalOf({ session: { ...session, snapshots: { '../x': 1 } } })).toEqual(
    oddity('wrong_name', 'session/snapshots/../x'),
  );
  expect(refusalOf({ session: { ...session, manifest: undefined } })).toEqual(
    oddity('missing_field', 'session/manifest'),
  );
  const doubled = JSON.stringify(SMALL).replace('"exportedAt"', '"exportedAt":"then","exportedAt"');
  expect(indexOf(doubled)._unsafeUnwrapErr()).toEqual(oddity('repeated_field', 'exportedAt'));
  expect(indexOf('{"constructor":1,"toString":2}')._unsafeUnwrapErr()).toMatchObject({ reason: 'missing_field' });
});
