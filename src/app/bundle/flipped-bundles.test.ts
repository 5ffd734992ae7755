import { beforeAll, describe, expect, it } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { exported, imported, type LooseBundle, loose } from '../../../test/examples/bundles.ts';
import { engine } from '../../../test/examples/engine.ts';
import { sharedBundle, writeCounting } from '../../../test/examples/forged-bundles.ts';
import { sessionOf } from '../../../test/examples/shared-session.ts';
import { seededRandom } from '../../../test/simulation/seeded-random.ts';
import { isLong, share } from '../../../test/volume.ts';
import { bundleIdSchema, exportedAtSchema, integrityEntrySchema } from '../../core/bundle/bundle-document.ts';
import { SHA256_DIGEST_PATTERN } from '../../core/json/canonical-json.ts';
import { SessionId } from '../../core/log/ids.ts';

const TIMEOUT_MS = isLong ? 3_600_000 : 60_000;
/** What may come of a flipped bit; only the time of the export and its producer may change unseen. */
const POSSIBLE = [
  'BUNDLE_EVENT_ORDER_INVALID',
  'BUNDLE_INTEGRITY_FAILED',
  'BUNDLE_INVALID_FORMAT',
  'BUNDLE_MANIFEST_ORDER_INVALID',
  'BUNDLE_UNSUPPORTED_VERSION',
  'accepted',
];
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

let small: Uint8Array;
let shared: Uint8Array;

beforeAll(async () => {
  const here = engine();
  small = (await exported(here.services, sessionOf(await here.start('test.skips'))))._unsafeUnwrap().file;
  shared = await sharedBundle();
});

describe('a bundle that was changed', { timeout: TIMEOUT_MS }, () => {
  it('any flipped bit of a bundle is refused for the right reason, except in the envelope', async () => {
    enforces('bundle_integrity', 'bundle_error_integrity', 'import_validates_first');
    // One bit of each byte, another one of the next; digits stay digits.
    const codes = await flipAll(small, share([...small.keys()], { every: 8 }), (at) =>
      isDigit(small[at]) ? 0 : at % 8,
    );
    expect(codes).toContain('BUNDLE_INTEGRITY_FAILED');
    expect([...codes].sort()).toEqual(isLong ? POSSIBLE : POSSIBLE.filter((code) => codes.has(code)));
  });

  it('any flipped byte of a bundle with branches, blocks and artifacts is refused', async () => {
    enforces('bundle_integrity');
    const random = seededRandom(7);
    const places = isLong ? [...shared.keys()] : Array.from({ length: 100 }, () => random.below(shared.length));
    expect(await flipAll(shared, places, () => random.below(8))).toContain('BUNDLE_INTEGRITY_FAILED');
  });

  it('a changed large bundle is refused', async () => {
    enforces('bundle_integrity');
    const here = engine();
    let reply = await here.start('test.plain');
    for (let step = 0; step < 11; step++) {
      const artifacts = Array.from({ length: 4 }, (_, i) => ({ kind: 'note', text: `${step}-${i} `.repeat(6_000) }));
      reply = await here.send(reply, { notes: 'A long note. '.repeat(4_000), artifacts });
    }
    const large = (await exported(here.services, sessionOf(reply)))._unsafeUnwrap().file;
    expect(large.length).toBeGreaterThan(1_000_000);
    const random = seededRandom(6);
    const places = Array.from({ length: isLong ? 400 : 8 }, () => random.below(large.length));
    expect(await flipAll(large, places, () => random.below(8))).toContain('BUNDLE_INTEGRITY_FAILED');
  });
});

function isDigit(byte = 0): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** Turns over one bit at each place and holds what becomes of it against what it should; gives all that came of it. */
async function flipAll(bytes: Uint8Array, places: readonly number[], bitAt: (at: number) => number) {
  const original = loose(bytes);
  const codes = new Set<string>();
  for (const at of places) {
    const changed = Uint8Array.from(bytes);
    changed[at] = (bytes[at] ?? 0) ^ (1 << bitAt(at));
    const { services, writes } = writeCounting();
    const done = await imported(services, changed);
    const code = done.isOk() ? 'accepted' : done.error.code;
    expect([at, code, writes() > 0]).toEqual([at, rightCode(original, changed), done.isOk()]);
    codes.add(code);
  }
  return codes;
}

/** The expected refusal of a bundle that was changed in one value or name. */
function rightCode(original: LooseBundle, bytes: Uint8Array): string {
  let changed: LooseBundle;
  try {
    changed = JSON.parse(utf8.decode(bytes)) as LooseBundle;
  } catch {
    return 'BUNDLE_INVALID_FORMAT';
  }
  const names = (value: object) => Object.keys(value).join();
  const isFixed = [
    [original, changed],
    [original.integrity, changed.integrity],
    [original.session, changed.session],
  ].every(([one = {}, other = {}]) => names(one) === names(other));
  if (!isFixed) return 'BUNDLE_INVALID_FORMAT';
  const differs = (of: (bundle: LooseBundle) => unknown) =>
    JSON.stringify(of(original)) !== JSON.stringify(of(changed));
  if (differs((bundle) => (bundle as unknown as Record<string, unknown>)['bundleSchemaVersion'])) {
    return 'BUNDLE_UNSUPPORTED_VERSION';
  }
  if (differs(({ exportedAt }) => exportedAt)) return sound(exportedAtSchema.safeParse(changed.exportedAt), 'accepted');
  if (differs(({ producer }) => producer)) {
    return 'appVersion' in changed.producer ? 'accepted' : 'BUNDLE_INVALID_FORMAT';
  }
  if (differs(({ integrity }) => integrity.kind)) return 'BUNDLE_INVALID_FORMAT';
  const { session } = changed;
  if (differs(({ integrity }) => integrity.entries)) {
    return sound(integrityEntrySchema.array().safeParse(changed.integrity.entries));
  }
  if (differs(({ bundleId }) => bundleId)) return sound(bundleIdSchema.safeParse(changed.bundleId));
  if (differs((bundle) => bundle.session.sessionId)) return sound(SessionId.schema.safeParse(session.sessionId));
  const tables = [session.snapshots, session.pinnedWorkflows, session.artifacts ?? {}];
  if (!tables.flatMap(Object.keys).every((key) => SHA256_DIGEST_PATTERN.test(key))) return 'BUNDLE_INVALID_FORMAT';
  if (differs((bundle) => numbers(bundle.session.events, 'eventIndex'))) return 'BUNDLE_EVENT_ORDER_INVALID';
  if (differs((bundle) => numbers(bundle.session.manifest, 'manifestIndex'))) return 'BUNDLE_MANIFEST_ORDER_INVALID';
  return 'BUNDLE_INTEGRITY_FAILED';
}

function sound({ success }: { readonly success: boolean }, code = 'BUNDLE_INTEGRITY_FAILED'): string {
  return success ? code : 'BUNDLE_INVALID_FORMAT';
}

/** An item whose number is called otherwise is not in a wrong place, but changed. */
function numbers(list: readonly Record<string, unknown>[], name: string): readonly unknown[] {
  return list.map((item, i) => (Object.hasOwn(item, name) ? item[name] : i));
}
