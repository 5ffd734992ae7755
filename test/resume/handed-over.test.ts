import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { layout } from '../../src/adapters/file-store/disk/disk.ts';
import { storeOf } from '../../src/adapters/file-store/file-store.ts';
import { memoryStore } from '../../src/adapters/memory-store/memory-store.ts';
import type { Store } from '../../src/app/ports/store.ts';
import { acceptSession } from '../../src/app/upkeep/accept-session.ts';
import type { JsonObject } from '../../src/core/json/json-value.ts';
import type { SessionId } from '../../src/core/log/ids.ts';
import { enforces } from '../enforces.ts';
import { exported, imported, loose } from '../examples/bundles.ts';
import { prefixProjections, projections } from '../examples/projections.ts';
import { sha256 } from '../examples/sha256.ts';
import { storeFolder } from '../store-folder.ts';
import { isLong } from '../volume.ts';
import { HERE, type Machine, machine, nextCall, plain, type Told } from './machine.ts';
import { type PlayedSession, randomSession } from './random-session.ts';

const SESSIONS = isLong ? 300 : 4;
const SEED = Number(process.env['WORKRAIL_SEED'] ?? 6_000);
const CALLS_MAX = 60;

/** A session on a machine. */
type Copy = { readonly at: Machine; readonly sessionId: SessionId };

async function bundleOf({ at, sessionId }: Copy): Promise<Uint8Array> {
  return (await exported(at.services, sessionId))._unsafeUnwrap().file;
}

async function copyOn(store: Store, file: Uint8Array, name = 'there'): Promise<Copy> {
  const at = machine(store, name);
  const { sessionId = expect.fail('not written') } = (await imported(at.services, file))._unsafeUnwrap();
  await acceptSession(at.services, sessionId);
  return { at, sessionId };
}

/** What a bundle holds but for the ids that must differ between copies, and the digests over them. */
async function contentOf(copy: Copy) {
  const { session } = loose(await bundleOf(copy));
  const { manifest, events, ...content } = session;
  // A copy under another id is another history, for which the signatures do not hold.
  const records = manifest.map(({ chain, sha256: _, sig, ...rest }: Record<string, unknown>) => rest);
  return plain({ ...content, events, manifest: records }, copy.sessionId);
}

function questions({ sessionId, runs }: PlayedSession): readonly JsonObject[] {
  const named = runs.flatMap((seen) => seen.slice(0, 1)).map((told) => ({ runId: told.session.runId }));
  return [{}, { sessionId }, { workspacePath: HERE }, { query: 'zebra3' }, { query: 'rounds' }, ...named];
}

/** Asks both machines the same and expects equal replies. */
async function expectSame(one: Copy, other: Copy, [tool, sent]: readonly [string, (of: Copy) => JsonObject]) {
  const [a, b] = await Promise.all([one, other].map(async (of) => of.at.ask(tool, sent(of))));
  expect(withoutOrigin(plain(b, other.sessionId))).toEqual(withoutOrigin(plain(a, one.sessionId)));
  return [a?.structuredContent, b?.structuredContent] as unknown as readonly [Told, Told];
}

/** A reply without the remark that its session was imported and accepted. */
function withoutOrigin(reply: unknown): unknown {
  const text = JSON.stringify(reply)
    .replaceAll(/"origin":\{"kind":"imported"[^{}]*\{[^{}]*\}[^{}]*\},?/g, '')
    .replaceAll(/ It was imported .*?, accepted [-\d]+ [:\d]+ UTC\./g, '')
    .replaceAll(/ · imported(?= ·)/g, '');
  return JSON.parse(text.replaceAll(/,(?=\})/g, ''));
}

/** Continues every run on both machines, call by call, until all are complete. */
async function finishBoth(one: Copy, other: Copy, { runs }: PlayedSession): Promise<number> {
  let calls = 0;
  for (const [{ session }] of runs as readonly (readonly [Told])[]) {
    const { runId } = session;
    let both = await expectSame(one, other, ['resume_session', ({ sessionId }) => ({ sessionId, runId })]);
    for (; both[0].isComplete !== true; calls++) {
      expect(calls).toBeLessThan(CALLS_MAX);
      const notes = `Done ${calls} on the way.`;
      const save = { notesMarkdown: notes, artifacts: [{ kind: 'note', text: notes }] };
      const [a, b] = both;
      const of = (copy: Copy) => (copy === one ? a : b);
      if (calls % 3 === 0) {
        const saving = (copy: Copy) => ({ checkpointToken: of(copy).checkpointToken, output: save });
        const saved = await expectSame(one, other, ['checkpoint_workflow', saving]);
        expect(await expectSame(one, other, ['checkpoint_workflow', saving])).toEqual(saved);
      }
      const { tool } = nextCall(a, notes);
      both = await expectSame(one, other, [tool, (copy) => nextCall(of(copy), notes).arguments as JsonObject]);
    }
  }
  return calls;
}

it(`an exported session is the same after import and continues the same (${SESSIONS} sessions from seed ${SEED})`, async () => {
  enforces('bundle_round_trip_equivalent', 'bundle_resumable', 'import_as_new_on_collision', 'checkpoint_idempotent');
  const kinds = new Set<string>();
  let [runs, branched, calls] = [0, 0, 0];
  for (let seed = SEED; seed < SEED + SESSIONS; seed++) {
    const at = machine(memoryStore(sha256), 'here');
    const played = await randomSession(at, seed);
    const here: Copy = { at, sessionId: played.sessionId };
    const file = await bundleOf(here);
    const there = await copyOn(seed % 4 === 0 ? storeOf(storeFolder()) : memoryStore(sha256), file);
    expect(there.sessionId).toBe(here.sessionId);
    expect(await bundleOf(there)).toEqual(file);
    for (const asked of questions(played)) await expectSame(here, there, ['resume_session', () => asked]);
    // Where it was imported before and nothing is new, nothing is written; where it is at home, it is a copy.
    expect((await imported(there.at.services, file))._unsafeUnwrap()).toMatchObject({ kind: 'unchanged' });
    const copied = (await imported(at.services, file))._unsafeUnwrap().sessionId ?? expect.fail();
    const again: Copy = { at, sessionId: copied };
    expect(again.sessionId).not.toBe(here.sessionId);
    const alone = await copyOn(memoryStore(sha256), await bundleOf(again), 'alone');
    expect(await contentOf(again)).toEqual(await contentOf(here));
    const views = await projections(at.services, here.sessionId);
    for (const copy of [there, again, alone]) {
      expect(await projections(copy.at.services, copy.sessionId)).toEqual(views);
    }
    calls += await finishBoth(here, alone, played);
    expect(await contentOf(alone)).toEqual(await contentOf(here));
    for (const { kind } of loose(file).session.events) kinds.add(String(kind));
    for (const { data } of loose(file).session.events as { data?: { nodeKind?: string } }[]) {
      kinds.add(String(data?.nodeKind));
    }
    runs += views.views.runs.length;
    branched += views.views.runs.filter(({ branchCount }) => branchCount > 1).length;
  }
  // The sample must contain every feature, or the test proves nothing.
  expect([...kinds]).toEqual(
    expect.arrayContaining(['blocked_attempt', 'checkpoint', 'gap_recorded', 'node_output_appended', 'context_set']),
  );
  expect(runs).toBeGreaterThan(SESSIONS);
  expect(branched).toBeGreaterThan(SESSIONS / 8);
  expect(calls).toBeGreaterThan(SESSIONS);
}, 3_600_000);

it('the intact part of a damaged session is the same after import and cannot be continued', async () => {
  enforces('export_prefix_flagged', 'import_salvage_read_only', 'resume_healthy_only');
  const folder = storeFolder();
  const at = machine(storeOf(folder), 'here');
  const { sessionId, runs } = await randomSession(at, SEED);
  const segments = readdirSync(join(folder.root, layout.events(sessionId))).sort();
  const place = join(folder.root, layout.events(sessionId), segments[6] ?? '');
  writeFileSync(place, Buffer.concat([readFileSync(place), Buffer.from('{}\n')]));
  const here: Copy = { at: machine(storeOf(folder), 'here'), sessionId };
  const file = await bundleOf(here);
  const target = storeFolder();
  const there = await copyOn(storeOf(target), file);
  expect(await bundleOf(there)).toEqual(file);
  const views = await prefixProjections(here.at.services, sessionId);
  expect(views.nodes.length).toBeGreaterThan(2);
  // The process that imported it, and the next one.
  for (const store of [there.at.services, storeOf(target)]) {
    expect(await prefixProjections(store, sessionId)).toEqual(views);
    const reader = machine({ ...storeOf(target), ...store }, 'reader');
    const refused = await reader.ask('resume_session', { sessionId });
    expect(refused.structuredContent).toMatchObject({ kind: 'error', error: { code: 'STORE_CORRUPT' } });
    expect((await reader.ask('resume_session', { workspacePath: HERE })).structuredContent).toMatchObject({
      candidates: [],
    });
  }
  const ackToken = runs[0]?.[0]?.ackToken ?? expect.fail();
  const stopped = await here.at.ask('continue_workflow', { ackToken });
  expect(stopped.structuredContent).toMatchObject({ kind: 'error', error: { code: 'STORE_CORRUPT' } });
});
