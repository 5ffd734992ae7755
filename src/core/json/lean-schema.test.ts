import { readdirSync, readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { Err } from 'neverthrow';
import { beforeAll, expect, test, vi } from 'vitest';
import { MANIFEST_EXAMPLES } from '../../../test/examples/manifest.ts';
import { SESSION_EVENTS } from '../../../test/examples/session.ts';
import { removals, replacements, withValue } from '../../../test/examples/single-field-changes.ts';
import { SNAPSHOT_EXAMPLES } from '../../../test/examples/snapshots.ts';
import { isLong } from '../../../test/volume.ts';

/** Everything that reads a stored document, once with each library. */
async function readers() {
  const [event, snapshot, manifest, keyring, workflow, documents] = await Promise.all([
    import('../log/event.ts'),
    import('../log/execution-snapshot.ts'),
    import('../log/manifest.ts'),
    import('../token/keyring.ts'),
    import('../workflow/compiled/compiled-workflow.ts'),
    import('../log/document-schema.ts'),
  ]);
  const { parseDocument, unknownMember } = documents;
  return {
    event: (value: unknown) => event.parseEvent(structuredClone(value)),
    snapshot: (value: unknown) => snapshot.parseSnapshot(structuredClone(value)),
    record: (value: unknown) => manifest.parseManifestRecord(value),
    keyring: (value: unknown) => parseDocument(keyring.keyringDocumentSchema, value),
    workflow: (value: unknown) => parseDocument(workflow.compiledWorkflowSchema, value),
    data: (value: unknown) => event.sessionEventSchema.safeParse(value).data,
    member: (value: unknown) => unknownMember(event.sessionEventSchema, value),
  };
}

type Readers = Awaited<ReturnType<typeof readers>>;
let zod: Readers;
let lean: Readers;

beforeAll(async () => {
  zod = await readers();
  vi.resetModules();
  vi.doMock('zod', () => import('./lean-schema.ts'));
  lean = await readers();
  vi.doUnmock('zod');
});

const PINNED = 'test/golden/workflow/pinned';
const KEY = { alg: 'hmac_sha256', keyBase64Url: 'A'.repeat(43) };
const DOCUMENTS: { readonly [reader in keyof Readers]?: readonly unknown[] } = {
  event: SESSION_EVENTS,
  data: SESSION_EVENTS,
  member: SESSION_EVENTS,
  snapshot: Object.values(SNAPSHOT_EXAMPLES),
  record: MANIFEST_EXAMPLES,
  keyring: [
    { v: 1, current: KEY, previous: null },
    { v: 1, current: KEY, previous: KEY },
  ],
  workflow: readdirSync(PINNED)
    .filter((name) => name !== 'hashes.json')
    .map((name) => JSON.parse(readFileSync(`${PINNED}/${name}`, 'utf8'))),
};
const CHECKED = Object.entries(DOCUMENTS) as [keyof Readers, readonly unknown[]][];
const NO_RULES = { opaque: [], nullable: [], texts: {}, emptyTexts: [] };

/** Both libraries say the same, with the same place and the same words. */
function compare(reader: keyof Readers, value: unknown): boolean {
  const [expected, found] = [zod[reader](value), lean[reader](value)];
  // Asking the test library each time would take most of the time.
  if (JSON.stringify(found) !== JSON.stringify(expected)) expect([value, found]).toEqual([value, expected]);
  return isRefused(expected);
}

function isRefused(read: unknown): boolean {
  return read instanceof Err;
}

test('both libraries accept every example', () => {
  for (const [reader, documents] of CHECKED) {
    expect(documents.length).toBeGreaterThan(0);
    for (const document of documents) expect([reader, compare(reader, document)]).toEqual([reader, false]);
  }
});

test('both libraries say the same about every example with one field removed or replaced', () => {
  let refused = 0;
  for (const [reader, documents] of CHECKED) {
    const few = isLong ? documents : documents.filter((_, i) => i % (reader === 'event' ? 2 : 12) === 0);
    for (const document of few) {
      for (const change of [...removals(document, NO_RULES), ...replacements(document, NO_RULES)]) {
        if (compare(reader, change.document)) refused += 1;
      }
      for (const other of [null, [], 'text', 7, {}, { ...(document as object), more: 1 }]) compare(reader, other);
    }
  }
  expect(refused).toBeGreaterThan(500);
});

test('both libraries say the same about examples with random values in them', () => {
  const cases = CHECKED.filter(([reader]) => reader !== 'data' && reader !== 'member').flatMap(([reader, documents]) =>
    documents.flatMap((document) => removals(document, NO_RULES).map(({ path }) => ({ reader, document, path }))),
  );
  fc.assert(
    fc.property(fc.constantFrom(...cases), fc.jsonValue(), ({ reader, document, path }, value) => {
      const changed = withValue(document, path, value);
      // With several things wrong, which one is named may differ.
      expect(isRefused(lean[reader](changed))).toBe(isRefused(zod[reader](changed)));
    }),
    { numRuns: isLong ? 20_000 : 300 },
  );
});
