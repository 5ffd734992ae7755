import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { exported, imported, loose } from '../../../test/examples/bundles.ts';
import { type Engine, engine, stepOf, tokenOf, told, WORKSPACE } from '../../../test/examples/engine.ts';
import { projections } from '../../../test/examples/projections.ts';
import { sessionOf, sharedSession } from '../../../test/examples/shared-session.ts';
import { numberedSession, storeFolder } from '../../../test/store-folder.ts';
import { layout } from '../../adapters/file-store/disk/disk.ts';
import { storeOf } from '../../adapters/file-store/file-store.ts';
import { memoryStore } from '../../adapters/memory-store/memory-store.ts';
import { nodeHasher } from '../../adapters/system.ts';
import { eventIndexSchema, type NodeId, type SessionId } from '../../core/log/ids.ts';
import type { GivenReply } from '../../core/log/operation/stored-reply.ts';
import { mintToken } from '../../core/token/node-token.ts';
import { FIRST_ATTEMPT } from '../../core/token/token.ts';
import { nodeOf } from '../../core/views/run-graph.ts';
import { resumeSession } from '../resume/resume-session.ts';
import { checkpoint } from '../run/checkpoint.ts';
import { type Minting, stateTokenOf } from '../run/give-reply.ts';
import { acceptSession } from '../upkeep/accept-session.ts';

const NEW = numberedSession(7);

test('a bundle imported under its own id exports to the same bytes', async () => {
  enforces('bundle_round_trip_equivalent', 'bundle_orders');
  const { file, sessionId } = await sharedFrom(engine());
  const there = engine();
  const { kind, runs, salvage, ...done } = (await imported(there.services, file))._unsafeUnwrap();
  expect([kind, runs, salvage, done.sessionId, done.from]).toEqual(['imported', 2, undefined, sessionId, sessionId]);
  expect(await bundleOf(there, sessionId)).toEqual(file);
});

test('an import whose id is taken becomes a new session that differs only in its id', async () => {
  enforces('import_as_new_on_collision', 'bundle_round_trip_equivalent');
  const here = engine();
  const { file, sessionId } = await sharedFrom(here);
  const before = await bundleOf(here, sessionId);
  const done = (await imported(withNewId(here), file))._unsafeUnwrap();
  expect([done.from, done.sessionId]).toEqual([sessionId, NEW]);
  // The one that was there is as it was: nothing is merged.
  expect(await bundleOf(here, sessionId)).toEqual(before);

  const [old, young] = [loose(file), loose(await bundleOf(here, NEW))];
  const renamed = (text: string) => text.replaceAll(sessionId, NEW);
  expect(young.session.events).toEqual(JSON.parse(renamed(JSON.stringify(old.session.events))));
  for (const part of ['snapshots', 'pinnedWorkflows', 'artifacts'] as const) {
    expect(young.session[part]).toEqual(old.session[part]);
  }
  const plain = ({ session }: typeof old) =>
    session.manifest.map(({ chain, sha256, sessionId: _, sig: __, ...rest }) => rest);
  // Its signatures are of another history. The head of that one stays on record.
  expect(young.session.manifest.filter(({ sig }) => sig !== undefined)).toEqual([]);
  expect(await here.services.marks.origin(NEW)).toHaveProperty('head', old.session.manifest.at(-1)?.['chain']);
  expect(plain(young)).toEqual(plain(old));
  expect(await projections(here.services, NEW)).toEqual(await projections(here.services, sessionId));
  // And once more, from that one.
  const further = engine();
  await imported(further.services, await bundleOf(here, NEW));
  expect(await bundleOf(further, NEW)).toEqual(await bundleOf(here, NEW));
});

test('an import does not take the id of a session in the bin', async () => {
  enforces('import_as_new_on_collision', 'deleted_session_comes_back');
  const store = storeOf(storeFolder());
  const here = engine({ store });
  const { file, sessionId } = await sharedFrom(here);
  await store.bin.put(sessionId, 5);
  const done = (await imported({ ...withNewId(here), bin: store.bin }, file))._unsafeUnwrap();
  expect([done.from, done.sessionId]).toEqual([sessionId, NEW]);
  expect(await store.bin.restore(sessionId)).toEqual(ok(undefined));
  expect((await store.sessions.list())._unsafeUnwrap().toSorted()).toEqual([sessionId, NEW].toSorted());
});

test('a session that was just imported is not collected, however old its events are', async () => {
  enforces('retention_ttl_configurable');
  const { file, sessionId } = await sharedFrom(engine());
  const folder = storeFolder();
  const store = storeOf(folder);
  await imported(engine({ store }).services, file);
  const nowMs = Date.now();
  const collect = (expiredBeforeMs: number) =>
    store.collector.collect({ nowMs, expiredBeforeMs, binnedBeforeMs: 0, isDryRun: true });
  const stays = async () => (await collect(nowMs - 60_000))._unsafeUnwrap().sessions.length === 0;
  expect(await stays()).toBe(true);
  // So it is with what is brought back, which lay in the bin for long.
  const arrived = join(folder.root, layout.session(sessionId), 'arrived');
  const lastYear = Date.UTC(2025, 5, 1) / 1_000;
  const manifest = join(folder.root, layout.manifest(sessionId));
  for (const path of [arrived, manifest]) utimesSync(path, lastYear, lastYear);
  expect(await stays()).toBe(false);
  await store.bin.put(sessionId, 5);
  await store.bin.restore(sessionId);
  expect(await stays()).toBe(true);
});

test('an imported session can be continued to its end with new tokens', async () => {
  enforces('bundle_resumable', 'bundle_has_no_tokens');
  const here = engine();
  const { file, sessionId, tip } = await sharedFrom(here);
  const text = Buffer.from(file).toString();
  for (const name of ['stateToken', 'ackToken', 'checkpointToken'] as const) {
    expect(text).not.toContain(tokenOf(tip, name));
  }
  expect(text).not.toMatch(/\b(?:st|ack|chk)_[0-9a-z]{4}[0-9a-z]{30,}/);

  const node = await here.node(tip);
  for (const [there, as] of [await arrived(file, sessionId), await arrivedAsNew(file)] as const) {
    let reply = await comeBack(there, as, node);
    expect({ ...reply.structured, ...TOKENLESS }).toEqual({
      ...(await here.show(tip)).structured,
      ...TOKENLESS,
    });
    while (told(reply, 'isComplete') !== true) {
      expect(sessionOf(reply)).toBe(as);
      reply = await there.send(reply, { notes: `Did ${String(stepOf(reply))} there.` });
    }
    // What was done there can be given back.
    const back = engine({ services: { ids: { ...there.services.ids, session: () => numberedSession(9) } } });
    expect((await imported(back.services, await bundleOf(there, as))).isOk()).toBe(true);
  }
});

test('a checkpoint saved before the export is replayed and not recorded twice', async () => {
  enforces('bundle_resumable', 'checkpoint_idempotent');
  const here = engine();
  const { file, saved } = await sharedFrom(here);
  const nodeId = await here.node(saved);
  const [there, sessionId] = await arrivedAsNew(file);
  const before = await bundleOf(there, sessionId);
  const { services } = there;
  const { view, mint } = await mintingOf(there, sessionId);
  const { createdIndex, ...node } = nodeOf(view.graph, nodeId);
  const mintable = { ...node, sessionId, eventIndex: eventIndexSchema.parse(createdIndex) };
  const checkpointToken = mintToken(mintable, { kind: 'checkpoint', attemptId: FIRST_ATTEMPT }, mint);
  const output = { notesMarkdown: 'On the way.', artifacts: [{ kind: 'note', text: 'an artifact' }] };
  for (let times = 0; times < 3; times++) {
    const again = (await checkpoint(services, { checkpointToken, output, workspace: WORKSPACE }))._unsafeUnwrap();
    expect(sessionOf(again)).toBe(sessionId);
    // Otherwise the reply would say that the call differs from the record.
    expect(JSON.stringify(told(again, 'warnings'))).not.toContain('replay_ignored_new_output');
  }
  expect(await bundleOf(there, sessionId)).toEqual(before);
  // And one that is saved there is saved once.
  const shown = await comeBack(there, sessionId, nodeId);
  const replies = await Promise.all(Array.from({ length: 10 }, () => there.save(shown, 'Saved there.')));
  expect(replies).toEqual(replies.map(() => replies[0]));
  const after = loose(await bundleOf(there, sessionId)).session.events.slice(loose(before).session.events.length);
  expect(after.map(({ kind }) => kind)).toEqual(['node_created', 'edge_created', 'node_output_appended']);
});

test('an import on a new machine creates the keys, so that the session can be resumed', async () => {
  enforces('bundle_resumable');
  const { file, sessionId } = await sharedFrom(engine());
  const there = engine({ store: storeOf(storeFolder()) });
  expect((await imported(there.services, file, true)).isOk()).toBe(true);
  expect((await there.services.keyring.find())._unsafeUnwrap()).toBeUndefined();
  expect((await resumeSession(there.services, { sessionId })).isErr()).toBe(true);
  expect((await imported(there.services, file)).isOk()).toBe(true);
  expect((await acceptSession(there.services, sessionId))._unsafeUnwrap()).toBe(true);
  const found = (await resumeSession(there.services, { sessionId }))._unsafeUnwrap();
  expect(sessionOf(found)).toBe(sessionId);
});

test('a dry run reports the import and writes nothing', async () => {
  const here = engine();
  const { file, sessionId } = await sharedFrom(here);
  const there = engine();
  expect((await imported(there.services, file, true))._unsafeUnwrap()).toMatchObject({
    kind: 'would_import',
    sessionId,
  });
  expect((await there.services.sessions.list())._unsafeUnwrap()).toEqual([]);
  expect((await imported(here.services, file, true))._unsafeUnwrap()).toMatchObject({ sessionId: undefined });
  expect((await here.services.sessions.list())._unsafeUnwrap()).toEqual([sessionId]);
});

test('importing a bundle again that adds nothing writes nothing', async () => {
  const { file, sessionId } = await sharedFrom(engine());
  const [there] = await arrived(file, sessionId);
  (await acceptSession(there.services, sessionId))._unsafeUnwrap();
  const again = (await imported(withNewId(there), file))._unsafeUnwrap();
  expect(again).toMatchObject({ kind: 'unchanged', sessionId });
  expect((await there.services.sessions.list())._unsafeUnwrap()).toEqual([sessionId]);
  expect(await there.services.marks.origin(sessionId)).toHaveProperty('acceptedAt');
});

test('white space and the order of keys in a bundle do not matter', async () => {
  const { file, sessionId } = await sharedFrom(engine());
  const turned = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(turned);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([key, inner]) => [key, turned(inner)]),
    );
  };
  const text = JSON.stringify(turned(loose(file)), null, '\t').replaceAll('\n', '\r\n');
  const there = engine();
  expect((await imported(there.services, Buffer.from(` \n${text}\n\n`))).isOk()).toBe(true);
  expect(await bundleOf(there, sessionId)).toEqual(file);
});

test('the file store and the memory store exchange the same bundles', async () => {
  const folder = storeFolder();
  const here = engine({ store: storeOf(folder) });
  const { file, sessionId } = await sharedFrom(here);
  const there = engine({ store: memoryStore(nodeHasher.sha256) });
  await imported(there.services, file);
  expect(await bundleOf(there, sessionId)).toEqual(file);
  const back = storeFolder();
  await imported(engine({ store: storeOf(back) }).services, file);
  const audit = (await storeOf(back).audit.audit(sessionId))._unsafeUnwrap();
  expect([audit.health, audit.findings]).toEqual([{ kind: 'healthy' }, []]);
  expect(await bundleOf(engine({ store: storeOf(back) }), sessionId)).toEqual(file);
});

const TOKENLESS = { stateToken: '', ackToken: '', checkpointToken: '', nextCall: null, session: undefined };

async function sharedFrom(here: Engine) {
  const shared = await sharedSession(here);
  return { ...shared, file: await bundleOf(here, shared.sessionId) };
}

async function bundleOf({ services }: Engine, sessionId: SessionId): Promise<Uint8Array> {
  return (await exported(services, sessionId))._unsafeUnwrap().file;
}

function withNewId({ services }: Engine) {
  return { ...services, ids: { ...services.ids, session: () => NEW } };
}

async function arrived(file: Uint8Array, sessionId: SessionId): Promise<readonly [Engine, SessionId]> {
  const there = engine();
  expect((await imported(there.services, file)).isOk()).toBe(true);
  return [there, sessionId];
}

/** On a machine that has a session of that id already. */
async function arrivedAsNew(file: Uint8Array): Promise<readonly [Engine, SessionId]> {
  const [there] = await arrived(file, NEW);
  // Without the mark the session counts as one that was started there.
  const marks = { ...there.services.marks, origin: async () => undefined };
  expect((await imported({ ...withNewId(there), marks }, file)).isOk()).toBe(true);
  return [there, NEW];
}

async function comeBack(there: Engine, sessionId: SessionId, nodeId: NodeId): Promise<GivenReply> {
  return there.show(stateTokenOf({ sessionId, nodeId }, await mintingOf(there, sessionId)));
}

async function mintingOf({ services }: Engine, sessionId: SessionId): Promise<Minting> {
  const keyring = (await services.keyring.open())._unsafeUnwrap();
  const { view } = (await services.sessions.load(sessionId))._unsafeUnwrap();
  return { view, mint: { keyring, hmac: services.hasher.hmacSha256, form: services.tokenForm } };
}
