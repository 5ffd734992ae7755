import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { exported, exportServices, imported, loose } from '../../../test/examples/bundles.ts';
import { type Engine, engine } from '../../../test/examples/engine.ts';
import { digest } from '../../../test/examples/sha256.ts';
import { sessionOf, sharedSession } from '../../../test/examples/shared-session.ts';
import { storeFolder } from '../../../test/store-folder.ts';
import { layout } from '../../adapters/file-store/disk/disk.ts';
import { storeOf } from '../../adapters/file-store/file-store.ts';
import { randomIds } from '../../adapters/system.ts';
import { bundleSchema } from '../../core/bundle/bundle-document.ts';
import { canonicalJson, type Sha256Digest } from '../../core/json/canonical-json.ts';
import type { SessionId } from '../../core/log/ids.ts';
import { authorIn } from '../../core/views/node-facts.ts';
import { exportSession } from './export-session.ts';

test('an export is one canonical JSON document of the published shape', async () => {
  enforces(
    'bundle_single_json',
    'bundle_envelope_fields',
    'bundle_session_contents',
    'bundle_integrity',
    'bundle_orders',
  );
  const here = engine();
  const { sessionId } = await sharedSession(here);
  const { file, bytes, events } = (await exported(here.services, sessionId))._unsafeUnwrap();
  const text = Buffer.from(file).toString();
  const document = bundleSchema.parse(JSON.parse(text));
  expect(text).toBe(canonicalJson(document)._unsafeUnwrap());
  expect([bytes, events]).toEqual([file.length, document.session.events.length]);
  expect(document.session.events.map(({ eventIndex }) => Number(eventIndex))).toEqual([...Array(events).keys()]);
  expect(document.integrity.entries.map(({ path }) => path)).toEqual(
    [
      'session/events',
      'session/manifest',
      ...Object.keys(document.session.snapshots).map((ref) => `session/snapshots/${ref}`),
      ...Object.keys(document.session.pinnedWorkflows).map((hash) => `session/pinnedWorkflows/${hash}`),
      ...Object.keys(document.session.artifacts ?? {}).map((digest) => `session/artifacts/${digest}`),
    ].sort(),
  );
  expect((await exported(here.services, sessionId))._unsafeUnwrap().file).toEqual(file);
});

test('the author is recorded once, if the settings allow it, and leaves the machine only when somebody asks', async () => {
  enforces('session_author');
  const author = 'Ada Lovelace <ada@example.org>';
  const hash = { type: 'sha256', value: digest('/work/shop') } as const;
  const begun = async (recordsAuthor: boolean) => {
    const { services } = engine();
    const defaults = (await services.defaults([]))._unsafeUnwrap();
    const here = engine({
      services: {
        by: { via: 'mcp' },
        defaults: async () => ok({ ...defaults, ...(recordsAuthor ? { recordsAuthor: true } : {}) }),
        workspace: {
          observe: async () => [{ key: 'repo_root_hash', value: hash, confidence: 'high' }],
          author: async () => author,
          tree: async () => undefined,
        },
      },
    });
    const tip = await here.send(await here.start('test.plain', { workspace: '/work/shop' }), { notes: 'Done.' });
    return { here, sessionId: sessionOf(tip) };
  };
  const off = await begun(false);
  expect(JSON.stringify(off.here.events)).not.toContain('Ada');

  const { here, sessionId } = await begun(true);
  expect(here.events.filter(({ by }) => by?.author !== undefined)).toMatchObject([
    { kind: 'observation_recorded', by: { via: 'mcp', author } },
  ]);
  const { view } = (await here.services.sessions.load(sessionId))._unsafeUnwrap();
  expect(authorIn(view.observations)).toBe(author);

  const shared = (await exported(here.services, sessionId))._unsafeUnwrap().file;
  expect(Buffer.from(shared).toString()).not.toMatch(/Ada|"author"/);
  const kept = (await exported(here.services, sessionId, { keepsAuthor: true }))._unsafeUnwrap().file;
  expect(Buffer.from(kept).toString()).toContain(author);
  for (const file of [shared, kept]) {
    const there = engine();
    const taken = (await imported(there.services, file))._unsafeUnwrap();
    const loaded = (await there.services.sessions.load(taken.sessionId ?? expect.fail()))._unsafeUnwrap();
    expect(authorIn(loaded.view.observations)).toBe(file === kept ? author : undefined);
    expect(loaded.view.nextEventIndex).toBe(view.nextEventIndex);
  }
});

test('a damaged session is exported up to the damage, and imports as read-only', async () => {
  enforces('export_prefix_flagged', 'import_salvage_read_only');
  const { folder, here, sessionId } = await onDisk();
  const whole = loose((await exported(here.services, sessionId))._unsafeUnwrap().file);
  const segments = readdirSync(join(folder.root, layout.events(sessionId))).sort();
  damage(join(folder.root, layout.events(sessionId), segments[3] ?? ''));

  const part = (await exported(storeOf(folder), sessionId))._unsafeUnwrap();
  const events = Number(segments[3]?.slice(0, 8));
  expect(part.salvage).toEqual({ health: 'corrupt_tail', lastEventIndex: events - 1 });
  expect(loose(part.file).session).toMatchObject({
    salvage: part.salvage,
    events: whole.session.events.slice(0, events),
  });

  const back = storeFolder();
  const there = engine({ store: storeOf(back) });
  expect((await imported(there.services, part.file))._unsafeUnwrap()).toMatchObject({
    sessionId,
    salvage: part.salvage,
  });
  for (const store of [there.services, storeOf(back)]) {
    const refusal = { code: 'damaged', damage: { reason: 'salvaged', place: layout.salvaged(sessionId), offset: 0 } };
    expect(await store.sessions.load(sessionId)).toEqual(err(refusal));
    expect(await store.sessions.exclusively(sessionId, async () => expect.fail('entered'))).toEqual(err(refusal));
    const prefix = (await store.sessions.loadValidPrefix(sessionId))._unsafeUnwrap();
    expect([prefix.kind, prefix.view.nextEventIndex]).toEqual(['salvaged', events]);
    expect((await exported(store, sessionId))._unsafeUnwrap().file).toEqual(part.file);
  }
  expect((await storeOf(back).audit.audit(sessionId))._unsafeUnwrap()).toMatchObject({
    health: { kind: 'salvaged', salvage: part.salvage },
    findings: [{ severity: 'note', what: 'salvage_mark', place: layout.salvaged(sessionId) }],
  });
  // A mark that nobody can read still keeps it from going on, and is found.
  const mark = join(back.root, layout.salvaged(sessionId));
  const bytes = readFileSync(mark);
  writeFileSync(mark, '{');
  expect((await storeOf(back).sessions.load(sessionId)).isErr()).toBe(true);
  expect((await storeOf(back).audit.audit(sessionId))._unsafeUnwrap().findings[0]).toMatchObject({
    severity: 'damage',
    reason: 'content_not_json',
    place: layout.salvaged(sessionId),
  });
  writeFileSync(mark, bytes);
  // It comes from a part and gives a part, in memory too.
  const further = engine();
  await imported(further.services, part.file);
  expect((await further.services.sessions.load(sessionId)).isErr()).toBe(true);
  expect((await exported(further.services, sessionId))._unsafeUnwrap().file).toEqual(part.file);
});

test('an export stops at missing content, and is refused without an intact append', async () => {
  enforces('export_prefix_flagged');
  const { folder, here, sessionId } = await onDisk();
  const { artifacts = {} } = loose((await exported(here.services, sessionId))._unsafeUnwrap().file).session;
  const [digest = ''] = Object.keys(artifacts);
  rmSync(join(folder.root, 'artifacts', digest.slice('sha256:'.length)));
  const part = (await exported(storeOf(folder), sessionId))._unsafeUnwrap();
  expect([part.artifacts, part.salvage?.health]).toEqual([0, 'corrupt_tail']);
  rmSync(join(folder.root, layout.pinnedWorkflows), { recursive: true });
  expect((await exported(storeOf(folder), sessionId))._unsafeUnwrapErr()).toMatchObject({ code: 'damaged' });
  writeFileSync(join(folder.root, layout.manifest(sessionId)), 'no manifest\n');
  expect((await exported(storeOf(folder), sessionId))._unsafeUnwrapErr()).toMatchObject({ code: 'damaged' });
  rmSync(join(folder.root, layout.session(sessionId)), { recursive: true });
  expect(await exported(storeOf(folder), sessionId)).toEqual(err({ code: 'session_not_found', sessionId }));
});

test('appends during an export are not part of the bundle', async () => {
  const { folder, here, sessionId, tip } = await onDisk();
  const before = (await exported(here.services, sessionId))._unsafeUnwrap().file;
  const pieces: Uint8Array[] = [];
  let reply = tip;
  const output = {
    write: async (piece: Uint8Array) => {
      pieces.push(piece);
      if (pieces.length % 4 === 0 && pieces.length < 20) reply = await here.send(reply, { notes: 'Meanwhile.' });
      return (await here.services.sessions.list()).map(() => undefined).mapErr(() => expect.fail('list'));
    },
    finish: async () => (await here.services.sessions.list()).map(() => undefined).mapErr(() => expect.fail('list')),
    abandon: async () => expect.fail('abandoned'),
  };
  const done = await exportSession(exportServices(storeOf(folder)), { sessionId, output });
  expect(done.isOk()).toBe(true);
  expect(Buffer.concat(pieces)).toEqual(Buffer.from(before));
  expect(sessionOf(reply)).toBe(sessionId);
});

test('an import and other sessions of the store do not disturb each other', async () => {
  const { here, sessionId, tip } = await onDisk();
  const { file } = (await exported(here.services, sessionId))._unsafeUnwrap();
  const folder = storeFolder();
  const [worker, ...importers] = [1, 2, 3].map(() => storeOf(folder));
  const agent = engine({ store: worker ?? expect.fail(), services: { ids: randomIds({ nowMs: () => 0 }) } });
  const working = (async () => {
    let reply = await agent.start('test.plain');
    for (let step = 0; step < 8; step++) reply = await agent.send(reply, { notes: `Step ${step}.` });
    return sessionOf(reply);
  })();
  const ids = (prefix: number) => ({ session: () => numbered(prefix), run: here.services.ids.run });
  // Two at once: one of them gets the id, the other a new one.
  const done = await Promise.all(importers.map((store, i) => imported({ ...store, ids: ids(i) }, file)));
  const taken = done.map((result) => result._unsafeUnwrap().sessionId);
  expect(new Set(taken).size).toBe(2);
  expect(taken).toContain(sessionId);
  for (const id of [...taken, await working]) {
    const audit = (await storeOf(folder).audit.audit(id ?? expect.fail()))._unsafeUnwrap();
    expect([audit.health, audit.findings]).toEqual([{ kind: 'healthy' }, []]);
  }
  expect(sessionOf(tip)).toBe(sessionId);
});

test('an interrupted import leaves a partial session that says so and cannot be continued', async () => {
  const { here, sessionId } = await onDisk();
  const { file } = (await exported(here.services, sessionId))._unsafeUnwrap();
  const folder = storeFolder();
  const store = storeOf(folder);
  const appendMany: typeof store.sessions.appendMany = async (permit, plans) => {
    const appended = await store.sessions.appendMany(permit, [...plans].slice(0, 2));
    if (appended.isErr()) return appended;
    return err({ code: 'io_failed', operation: 'write events', place: 'sessions', cause: 'ENOSPC' });
  };
  const failing = { ...store, sessions: { ...store.sessions, appendMany }, ids: here.services.ids };
  expect((await imported(failing, file))._unsafeUnwrapErr()).toMatchObject({ code: 'import_unfinished', sessionId });
  expect((await storeOf(folder).sessions.load(sessionId))._unsafeUnwrapErr()).toMatchObject({ code: 'damaged' });
  const left = (await exported(storeOf(folder), sessionId))._unsafeUnwrap();
  expect(left.salvage?.health).toBe('import_unfinished');
  // Once more: it is another session, because that id is taken.
  const ids = { ...here.services.ids, session: () => numbered(9) };
  expect((await imported({ ...storeOf(folder), ids }, file))._unsafeUnwrap().sessionId).toBe(numbered(9));
});

async function onDisk() {
  const folder = storeFolder();
  const here: Engine = engine({ store: storeOf(folder) });
  return { folder, here, ...(await sharedSession(here)) };
}

function numbered(number: number): SessionId {
  return `sess_000000000000000${number}` as SessionId;
}

function damage(path: string): void {
  const bytes = readFileSync(path);
  bytes[20] = (bytes[20] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

test('a bundle contains the hash of the settings in effect', async () => {
  enforces('bundle_envelope_fields');
  const here = engine();
  const { sessionId } = await sharedSession(here);
  const appliedConfigHash = async () => digest('settings') as Sha256Digest;
  const { file } = (await exported(here.services, sessionId, { appliedConfigHash }))._unsafeUnwrap();
  expect(loose(file).producer).toEqual({ appVersion: '1.2.3', appliedConfigHash: digest('settings') });
  expect((await imported(engine().services, file)).isOk()).toBe(true);
});
