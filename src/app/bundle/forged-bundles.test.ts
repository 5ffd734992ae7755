import { beforeAll, describe, expect, it } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { loose, unsealed } from '../../../test/examples/bundles.ts';
import {
  changed,
  firstKey,
  forged,
  lying,
  refusal,
  sharedBundle,
  swap,
} from '../../../test/examples/forged-bundles.ts';
import { digest, sha256 } from '../../../test/examples/sha256.ts';
import { numberedSession } from '../../../test/store-folder.ts';
import { bundleHead } from '../../core/bundle/bundle-document.ts';

let file: Uint8Array;

beforeAll(async () => {
  file = await sharedBundle();
});

/** Each item of a list with its keys in the opposite order, and that very list in the integrity manifest. */
function inAnotherForm(list: 'events' | 'manifest'): Uint8Array {
  const bundle = loose(file);
  const items = bundle.session[list].map((item) => Object.fromEntries(Object.entries(item).reverse()));
  const text = JSON.stringify(items);
  const entries = bundle.integrity.entries.map((entry) =>
    entry.path === `session/${list}` ? { ...entry, sha256: digest(text), bytes: Buffer.byteLength(text) } : entry,
  );
  const { text: head } = bundleHead(bundle, entries, sha256);
  return Buffer.from(`${head}${JSON.stringify({ ...bundle.session, [list]: items })}}`);
}

describe('a bundle that somebody changed', () => {
  const forgeries: readonly (readonly [string, () => Uint8Array, object])[] = [
    [
      'a version to come',
      () => unsealed({ ...loose(file), bundleSchemaVersion: 2, session: 'new' }),
      { code: 'BUNDLE_UNSUPPORTED_VERSION', version: '2' },
    ],
    [
      'an event of a version to come',
      () => forged(file, ({ session }) => Object.assign(session.events[3] ?? {}, { v: 2 })),
      { code: 'BUNDLE_UNSUPPORTED_VERSION', path: 'session/events/3' },
    ],
    [
      'an event of a kind to come',
      () => forged(file, ({ session }) => Object.assign(session.events[3] ?? {}, { kind: 'x' })),
      { code: 'BUNDLE_UNSUPPORTED_VERSION' },
    ],
    [
      'events in another order',
      () => lying(file, ({ session }) => swap(session.events, 4)),
      { code: 'BUNDLE_EVENT_ORDER_INVALID', position: 4, found: '5' },
    ],
    [
      'events in another order, with the old digests',
      () => unsealed(changed(file, ({ session }) => swap(session.events, 4))),
      { code: 'BUNDLE_EVENT_ORDER_INVALID', position: 4 },
    ],
    [
      'an event left out',
      () => lying(file, ({ session }) => session.events.splice(5, 1)),
      { code: 'BUNDLE_EVENT_ORDER_INVALID', position: 5 },
    ],
    [
      'records in another order',
      () => lying(file, ({ session }) => swap(session.manifest, 1)),
      { code: 'BUNDLE_MANIFEST_ORDER_INVALID', position: 1, found: '2' },
    ],
    [
      'records in another order, with the old digests',
      () => unsealed(changed(file, ({ session }) => swap(session.manifest, 1))),
      { code: 'BUNDLE_MANIFEST_ORDER_INVALID' },
    ],
    [
      'records that are numbered again',
      () =>
        lying(
          file,
          ({ session }) =>
            session.manifest.splice(0, 2).length &&
            session.manifest.map((record, i) => Object.assign(record, { manifestIndex: i })),
        ),
      { code: 'BUNDLE_MANIFEST_ORDER_INVALID', position: 0 },
    ],
    [
      'a snapshot left out',
      () => lying(file, ({ session }) => delete session.snapshots[firstKey(session.snapshots)]),
      { code: 'BUNDLE_MISSING_SNAPSHOT' },
    ],
    [
      'a snapshot left out, with the old digests',
      () => unsealed(changed(file, ({ session }) => delete session.snapshots[firstKey(session.snapshots)])),
      { code: 'BUNDLE_MISSING_SNAPSHOT' },
    ],
    [
      'a workflow left out',
      () => lying(file, ({ session }) => delete session.pinnedWorkflows[firstKey(session.pinnedWorkflows)]),
      { code: 'BUNDLE_MISSING_PINNED_WORKFLOW' },
    ],
    [
      'a workflow left out, with the old digests',
      () => unsealed(changed(file, ({ session }) => delete session.pinnedWorkflows[firstKey(session.pinnedWorkflows)])),
      { code: 'BUNDLE_MISSING_PINNED_WORKFLOW' },
    ],
    [
      'an artifact left out',
      () => lying(file, ({ session }) => delete session.artifacts),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'missing_artifact' },
    ],
    [
      'an artifact left out, with the old digests',
      () => unsealed(changed(file, ({ session }) => delete session.artifacts)),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'nothing_there' },
    ],
    [
      'another artifact',
      () =>
        lying(file, ({ session }) =>
          Object.assign(session.artifacts ?? {}, { [firstKey(session.artifacts ?? {})]: 'AAAA' }),
        ),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'wrong_artifact' },
    ],
    [
      'another snapshot',
      () =>
        lying(file, ({ session }) =>
          Object.assign(session.snapshots, { [firstKey(session.snapshots)]: Object.values(session.snapshots)[1] }),
        ),
      { code: 'BUNDLE_INTEGRITY_FAILED' },
    ],
    [
      'another workflow',
      () =>
        lying(file, ({ session }) =>
          Object.assign(session.pinnedWorkflows, {
            [firstKey(session.pinnedWorkflows)]: Object.values(session.pinnedWorkflows)[1],
          }),
        ),
      { code: 'BUNDLE_INTEGRITY_FAILED' },
    ],
    [
      'content that nothing names',
      () => lying(file, ({ session }) => Object.assign(session.artifacts ?? {}, { [digest('more')]: 'bW9yZQ==' })),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'unnamed_content' },
    ],
    [
      'content that is not listed',
      () =>
        unsealed(
          changed(file, ({ session }) => Object.assign(session.artifacts ?? {}, { [digest('more')]: 'bW9yZQ==' })),
        ),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'not_listed' },
    ],
    [
      'other notes',
      () => unsealed(changed(file, ({ session }) => Object.assign(session.events[0] ?? {}, { at: 1_700_000_000_001 }))),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'digest_mismatch', path: 'session/events' },
    ],
    [
      'other notes, with digests that fit',
      () => lying(file, ({ session }) => Object.assign(session.events[0] ?? {}, { at: 1_700_000_000_001 })),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'segment_mismatch' },
    ],
    [
      'the id of another session',
      () => lying(file, ({ session }) => Object.assign(session, { sessionId: numberedSession(3) })),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'foreign_session' },
    ],
    [
      'an event of another session',
      () =>
        forged(file, ({ session }) =>
          Object.assign(session.events[2] ?? {}, {
            sessionId: numberedSession(3),
            dedupeKey: String(session.events[2]?.['dedupeKey']).replace(session.sessionId, numberedSession(3)),
          }),
        ),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'foreign_session', path: 'session/events/2' },
    ],
    [
      'a record of another session',
      () => forged(file, ({ session }) => Object.assign(session.manifest[1] ?? {}, { sessionId: numberedSession(3) })),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'foreign_session', path: 'session/manifest/1' },
    ],
    [
      'a broken chain',
      () => lying(file, ({ session }) => Object.assign(session.manifest[2] ?? {}, { chain: digest('x') })),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'chain_broken', path: 'session/manifest/2' },
    ],
    [
      'a shorter manifest',
      () => lying(file, ({ session }) => session.manifest.splice(-2)),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'not_attested' },
    ],
    [
      'a manifest without its last pin',
      () => lying(file, ({ session }) => session.manifest.splice(-1)),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'pins_mismatch' },
    ],
    [
      'a pin of another snapshot, in a chain that fits',
      () => forged(file, ({ session }) => Object.assign(session.manifest[1] ?? {}, { snapshotRef: digest('x') })),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'pins_mismatch', path: 'session/manifest/0' },
    ],
    [
      'a wrong length of a value, with an id that fits',
      () => {
        const bundle = loose(file);
        const [first = expect.fail(), ...entries] = bundle.integrity.entries;
        const head = bundleHead(bundle, [{ ...first, bytes: first.bytes + 1 }, ...entries], sha256).text;
        return Buffer.from(`${head}${JSON.stringify(bundle.session)}}`);
      },
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'digest_mismatch' },
    ],
    ...(['events', 'manifest'] as const).map(
      (list) =>
        [
          `${list} in another form, with the digest of that form`,
          () => inAnotherForm(list),
          { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'digest_mismatch', path: `session/${list}` },
        ] as const,
    ),
    [
      'an event whose key does not follow from its content',
      () =>
        forged(file, ({ session }) =>
          Object.assign(session.events.find(({ kind }) => kind === 'advance_recorded')?.['data'] as object, {
            attemptId: 3,
          }),
        ),
      { code: 'BUNDLE_INVALID_FORMAT' },
    ],
    [
      'an attempt that skips others',
      () =>
        forged(file, ({ session }) => {
          const event = session.events.find(({ kind }) => kind === 'advance_recorded') ?? expect.fail();
          Object.assign(event['data'] as object, { attemptId: 3 });
          Object.assign(event, { dedupeKey: String(event['dedupeKey']).replace(/:0$/, ':3') });
        }),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'history_inconsistent' },
    ],
    [
      'an edge that calls the first way from a step a second one',
      () =>
        forged(file, ({ session }) => {
          const event = session.events.find(({ kind }) => kind === 'edge_created') ?? expect.fail();
          const { cause } = event['data'] as { cause: { kind: string } };
          Object.assign(cause, { kind: 'non_tip_advance' });
        }),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'history_inconsistent' },
    ],
    [
      'another name',
      () => unsealed({ ...loose(file), bundleId: 'bundle_0000000000000000' }),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'wrong_bundle_id' },
    ],
    [
      'a salvage that is none',
      () =>
        lying(file, ({ session }) =>
          Object.assign(session, { salvage: { health: 'corrupt_tail', lastEventIndex: 1 } }),
        ),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'salvage_disagrees' },
    ],
  ];

  it.each(forgeries)('%s', async (_, make, expected) => {
    enforces(
      'bundle_error_unsupported_version',
      'bundle_error_integrity',
      'bundle_error_missing_snapshot',
      'bundle_error_missing_workflow',
      'bundle_error_event_order',
      'bundle_error_manifest_order',
      'import_verifies_segments',
      'import_validates_first',
    );
    expect(await refusal(make())).toMatchObject(expected);
  });
});
