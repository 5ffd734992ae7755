import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../../src/adapters/memory-store/memory-store.ts';
import { BUNDLE_VERSION, bundleSchema } from '../../../src/core/bundle/bundle-document.ts';
import { enforces } from '../../enforces.ts';
import { exported, imported, loose } from '../../examples/bundles.ts';
import { engine } from '../../examples/engine.ts';
import { sha256 } from '../../examples/sha256.ts';

/**
 * Released bundles. The files are never rewritten: a version that no longer imports them would break bundles that
 * users exchanged.
 */
const read = (name: string) => readFileSync(join(import.meta.dirname, name));
const DIGESTS = JSON.parse(read('sha256.json').toString()) as { readonly [name: string]: string };
const NAMES = Object.keys(DIGESTS);

/** The kinds of events in the whole session; a kind that was added later is in no bundle from before. */
const RELEASED_KINDS = [
  'advance_recorded',
  'context_set',
  'decision_trace_appended',
  'edge_created',
  'gap_recorded',
  'node_created',
  'node_output_appended',
  'observation_recorded',
  'preferences_changed',
  'run_started',
  'session_created',
  'step_skipped',
];

describe.each(NAMES)('the stored bundle %s', (name) => {
  it('a golden bundle was not edited', () => {
    expect(createHash('sha256').update(read(name)).digest('hex')).toBe(DIGESTS[name]);
  });

  it('a golden bundle can be imported and exported again byte for byte', async () => {
    enforces('bundle_round_trip_equivalent', 'bundle_envelope_fields', 'schema_changes_additive_within_version');
    const file = read(name);
    const document = bundleSchema.parse(loose(file));
    expect(document.bundleSchemaVersion).toBe(BUNDLE_VERSION);
    const there = engine({ store: memoryStore(sha256) });
    const { sessionId, events, salvage } = (await imported(there.services, file))._unsafeUnwrap();
    expect([sessionId, events, salvage]).toEqual([
      document.session.sessionId,
      document.session.events.length,
      document.session.salvage,
    ]);
    const again = (await exported(there.services, document.session.sessionId))._unsafeUnwrap();
    expect(Buffer.from(again.file).toString()).toBe(file.toString());
  });
});

it('there are two golden bundles in the open, one of a whole session and one of a part, and an encrypted one', () => {
  expect(NAMES).toEqual(['part.json', 'whole.json']);
  expect(readdirSync(import.meta.dirname).sort()).toEqual(
    ['encrypted-v1.bin', 'golden-bundles.test.ts', ...NAMES, 'sha256.json'].sort(),
  );
  expect(loose(read('part.json')).session.salvage).toEqual({
    health: 'corrupt_tail',
    lastEventIndex: expect.any(Number),
  });
  const { session } = loose(read('whole.json'));
  expect(Object.keys(session.artifacts ?? {}).length).toBeGreaterThan(0);
  const kinds = new Set(session.events.map(({ kind }) => kind));
  expect([...kinds].sort()).toEqual(RELEASED_KINDS);
});
