import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { canonicalJson } from '../../src/core/json/canonical-json.ts';
import { errorEnvelopeSchema } from '../../src/core/log/error-envelope.ts';
import { EVENT_KINDS, parseEvent } from '../../src/core/log/event.ts';
import { parseSnapshot, sealSnapshot } from '../../src/core/log/execution-snapshot.ts';
import { parseManifestRecord } from '../../src/core/log/manifest.ts';
import { enforces } from '../enforces.ts';
import { ERROR_EXAMPLES } from '../examples/errors.ts';
import { MANIFEST_EXAMPLES, SIGNED_EXAMPLES } from '../examples/manifest.ts';
import { PLAN_NAMES, PLANS } from '../examples/session.ts';
import { sha256 } from '../examples/sha256.ts';
import { SNAPSHOT_EXAMPLES } from '../examples/snapshots.ts';

/**
 * Stored bytes of the released formats. The files are never rewritten: a version that no longer reads or writes them
 * would break the data of its users.
 */
const FOLDER = join(import.meta.dirname, 'log');
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');
const jsonLines = (documents: readonly unknown[]) =>
  documents.map((document) => `${canonicalJson(document)._unsafeUnwrap()}\n`).join('');
const linesOf = (name: string) =>
  read(name)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);

const SNAPSHOTS = Object.values(SNAPSHOT_EXAMPLES).map((snapshot) => ({
  ref: sealSnapshot(snapshot, sha256).ref,
  snapshot,
}));

/** The plans of the first release; what came later has files of its own. */
const FIRST_PLANS = PLAN_NAMES.filter((name) => name !== 'attestation');
const EVENTS = FIRST_PLANS.flatMap((name) => PLANS[name].events);
const FIRST_KINDS = EVENT_KINDS.filter((kind) => EVENTS.some((event) => event.kind === kind));

/** As many records as the example session had when signatures were released. */
const SIGNED_LINES = 14;

const FILES: { readonly [name: string]: readonly unknown[] } = {
  ...Object.fromEntries(FIRST_KINDS.map((kind) => [`${kind}.jsonl`, EVENTS.filter((event) => event.kind === kind)])),
  'attestation_recorded.jsonl': PLANS.attestation.events,
  // The example session may get further plans at its end, and with them further records.
  'manifest.jsonl': MANIFEST_EXAMPLES.slice(0, linesOf('manifest.jsonl').length),
  'manifest-signed.jsonl': SIGNED_EXAMPLES.slice(0, SIGNED_LINES),
  'snapshots.jsonl': SNAPSHOTS,
  'errors.jsonl': Object.values(ERROR_EXAMPLES),
};

// A new kind of document gets its file here. Its digest is added by hand, and from then on the file never changes.
for (const [name, documents] of Object.entries(FILES)) {
  if (!existsSync(join(FOLDER, name))) writeFileSync(join(FOLDER, name), jsonLines(documents));
}

test('there is a file of stored bytes for every kind of document', () => {
  expect(readdirSync(FOLDER).sort()).toEqual([...Object.keys(FILES), 'reasons.json', 'sha256.json'].sort());
});

test.each(Object.entries(FILES))('%s is written byte for byte as it was when it was released', (name, documents) => {
  enforces('one_canonical_json', 'schema_changes_additive_within_version');
  expect(jsonLines(documents)).toBe(read(name));
});

test.each(Object.keys(FILES))('the golden file %s was not edited', (name) => {
  const digests = JSON.parse(read('sha256.json')) as { readonly [name: string]: string };
  expect(createHash('sha256').update(read(name)).digest('hex')).toBe(digests[name]);
});

test('every stored document of a released format can still be read', () => {
  enforces('schema_changes_additive_within_version', 'durable_types_are_versioned');
  const refused = [
    ...EVENT_KINDS.flatMap((kind) => linesOf(`${kind}.jsonl`)).map((event) => parseEvent(event)),
    ...linesOf('manifest.jsonl').map((record) => parseManifestRecord(record)),
    ...linesOf('manifest-signed.jsonl').map((record) => parseManifestRecord(record)),
    ...linesOf('snapshots.jsonl').map((line) => parseSnapshot((line as { snapshot: unknown }).snapshot)),
  ].filter((result) => result.isErr());
  expect(refused).toEqual([]);
  expect(linesOf('errors.jsonl').filter((error) => !errorEnvelopeSchema.safeParse(error).success)).toEqual([]);
});
