import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { exported, exportServices, imported } from '../../../test/examples/bundles.ts';
import { engine } from '../../../test/examples/engine.ts';
import { numberedSession, storeFolder } from '../../../test/store-folder.ts';
import { layout } from '../../adapters/file-store/disk/disk.ts';
import { storeOf } from '../../adapters/file-store/file-store.ts';
import type { SessionId } from '../../core/log/ids.ts';
import { resumeSession } from '../resume/resume-session.ts';
import { forkFromValid } from './fork-session.ts';

/** A session of three appends; `tear` removes the last segment, as a slow copy does. */
async function threeAppends() {
  const folder = storeFolder();
  const first = engine({ store: storeOf(folder) });
  const begun = await first.start('test.plain', { goal: 'Not lost' });
  const second = await first.send(begun, { notes: 'The first step is done.' });
  await first.send(second, { notes: 'The second step is done.' });
  const { sessionId } = begun.structured['session'] as { readonly sessionId: SessionId };
  const events = join(folder.root, layout.events(sessionId));
  const tear = () => rmSync(join(events, readdirSync(events).sort().at(-1) ?? expect.fail('segments')));
  const open = () => {
    const store = storeOf(folder);
    const { services } = engine({ store });
    // The engine's ids count up, so a second engine would use those of the first.
    return { ...services, ...exportServices(store), ...store, ids: first.services.ids };
  };
  return { sessionId, second, tear, open, folder };
}

test('a session that is damaged at its end is forked up to there, and the fork can be resumed', async () => {
  enforces('fork_from_valid_prefix');
  const { sessionId, second, tear, open } = await threeAppends();
  const whole = (await exported(open(), sessionId))._unsafeUnwrap().file;
  tear();
  const services = open();
  const forked = (await forkFromValid(services, sessionId))._unsafeUnwrap();
  expect(forked).toMatchObject({ from: sessionId, runs: 1, isAccepted: true });
  expect(forked.sessionId).not.toBe(sessionId);
  const origin = await services.marks.origin(forked.sessionId);
  expect(origin).toMatchObject({ kind: 'imported', forkedFrom: sessionId, sessionId });

  const { structured } = (await resumeSession(open(), { sessionId: forked.sessionId }))._unsafeUnwrap();
  expect(JSON.stringify(structured)).toContain('The first step is done.');
  expect(structured).toMatchObject({
    pending: { stepId: (second.structured['pending'] as { stepId: string }).stepId },
  });
  // A second fork of the same part would only be a duplicate.
  const again = { code: 'already_forked', sessionId, fork: forked.sessionId } as const;
  expect(await forkFromValid(open(), sessionId)).toEqual(err(again));
  // The damaged session is untouched, and the whole session brings back the rest.
  expect(await open().sessions.load(sessionId)).toMatchObject(err({ code: 'damaged' }));
  const updated = await imported(open(), whole, { chooseUpdate: async () => 'update' });
  expect(updated).toMatchObject(ok({ kind: 'updated', sessionId: forked.sessionId }));
});

test('a session without damage is not forked', async () => {
  const { sessionId, open } = await threeAppends();
  expect(await forkFromValid(open(), sessionId)).toEqual(err({ code: 'nothing_damaged', sessionId }));
  expect(await open().sessions.list()).toEqual(ok([sessionId]));
});

test('the fork of an imported session that nobody accepted is not accepted either', async () => {
  enforces('fork_from_valid_prefix');
  const { sessionId, open } = await threeAppends();
  const { file } = (await exported(open(), sessionId))._unsafeUnwrap();
  const folder = storeFolder();
  const store = storeOf(folder);
  const { services } = engine({ store });
  await imported(services, file);
  const events = join(folder.root, layout.events(sessionId));
  rmSync(join(events, readdirSync(events).sort().at(-1) ?? expect.fail('segments')));
  const fresh = storeOf(folder);
  const ids = { ...services.ids, session: () => numberedSession(9) };
  const forked = await forkFromValid({ ...services, ...exportServices(fresh), ...fresh, ids }, sessionId);
  expect(forked).toMatchObject(ok({ isAccepted: false }));
  const origin = await fresh.marks.origin(forked._unsafeUnwrap().sessionId);
  expect(origin).not.toHaveProperty('acceptedAt');
});

test('a session that is damaged from its start cannot be forked', async () => {
  const { sessionId, open, folder } = await threeAppends();
  const events = join(folder.root, layout.events(sessionId));
  rmSync(join(events, readdirSync(events).sort()[0] ?? expect.fail('segments')));
  expect(await forkFromValid(open(), sessionId)).toMatchObject(err({ code: 'damaged' }));
  expect(await open().sessions.list()).toEqual(ok([sessionId]));
});
