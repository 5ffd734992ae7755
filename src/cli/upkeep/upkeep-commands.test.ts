import { appendFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ok } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { runFake } from '../../../test/cli/fake-program.ts';
import { fakeSetup } from '../../../test/cli/fake-setup.ts';
import { enforces } from '../../../test/enforces.ts';
import { engine, told } from '../../../test/examples/engine.ts';
import { storeFolder } from '../../../test/store-folder.ts';
import { layout } from '../../adapters/file-store/disk/disk.ts';
import { storeOf } from '../../adapters/file-store/file-store.ts';
import { claimLocks } from '../../adapters/lock/claim-locks.ts';
import { nodeHasher } from '../../adapters/system.ts';
import { SessionId } from '../../core/log/ids.ts';
import type { GivenReply } from '../../core/log/operation/stored-reply.ts';
import { commandShape } from '../command-shape.ts';
import { gc } from './gc.ts';
import { sessionClose } from './session-close.ts';
import { sessionDelete } from './session-delete.ts';
import { sessionKeep } from './session-keep.ts';
import { sessionPrefer } from './session-prefer.ts';
import { settingChanges } from './space-set.ts';

const gcShape = commandShape('gc', gc.data);
const sessionCloseShape = commandShape('session close', sessionClose.data);
const sessionDeleteShape = commandShape('session delete', sessionDelete.data);
const sessionKeepShape = commandShape('session keep', sessionKeep.data);
const sessionPreferShape = commandShape('session prefer', sessionPrefer.data);

const DAY_MS = 86_400_000;
const STARTED = Date.parse('2026-01-01T10:00:00Z');
type Fake = Parameters<typeof runFake>[0];

/** A data folder with a session or two in it, and a clock to turn. */
async function world(parts: Parameters<typeof storeFolder>[0] = {}) {
  const folder = storeFolder(parts);
  const store = storeOf(folder);
  const time = { nowMs: STARTED };
  const clock = { nowMs: () => time.nowMs };
  const { start, send } = engine({ store, services: { clock } });
  const first = await start('test.plain', { goal: 'Repair the shop' });
  const upkeep = { ...store, hasher: nodeHasher, clock };
  const run = (...args: (string | Partial<Fake>)[]) => {
    const argv = args.filter((arg) => typeof arg === 'string');
    const more = args.find((arg) => typeof arg === 'object') ?? {};
    return runFake({ argv, upkeep, setup: fakeSetup(), ...more });
  };
  return { ...folder, store, time, start, send, first, run, id: idOf(first), tag: String(told(first, 'run.tag')) };
}

const idOf = (reply: GivenReply) => SessionId.schema.parse(told(reply, 'session.sessionId'));
const answering = (answer: boolean | undefined, asked: string[] = []): Partial<Fake> => ({
  terminals: ['input', 'error'],
  ask: {
    choose: async () => undefined,
    confirm: async (question) => {
      asked.push(question);
      return answer;
    },
  },
});

/** Types the code that the question asks for, or something else. */
const typing = (...text: [] | [string | undefined]): Partial<Fake> => ({
  setup: fakeSetup(),
  terminals: ['input', 'output', 'error'],
  ask: {
    write: async ({ message }) => (text.length === 0 ? /Type ([A-Z]{4}) /.exec(message)?.[1] : text[0]),
  },
});

describe('session close', () => {
  it('session close closes the named session and says how to undo it', async () => {
    const { run, id, tag, store } = await world();
    expect(await run('session', 'close', id)).toMatchObject({
      exitCode: 0,
      out: `Closed run ${tag} of test.plain: resume_session no longer offers it. An agent that continues it reopens it.\n`,
      talk: `Next: workrail session close ${id} --undo\n`,
    });
    expect((await run('session', 'close', tag)).out).toBe(`Run ${tag} of test.plain was already closed.\n`);
    expect((await store.marks.of(id))._unsafeUnwrap().closed.size).toBe(1);
    expect((await run('session', 'close', tag, '--undo')).out).toBe(`Reopened run ${tag} of test.plain.\n`);
    const json = sessionCloseShape.parse(JSON.parse((await run('session', 'close', id, '--json')).out));
    expect(json).toMatchObject({
      ok: true,
      data: { sessionId: id, isUndone: false, runs: [{ tag, isChanged: true }] },
    });
  });

  it('session close with a run tag closes only that run', async () => {
    const { run, start, first, tag, id } = await world();
    await start('test.plain', { attachTo: String(told(first, 'stateToken')) });
    const { out } = await run('session', 'close', tag, '--json');
    expect(JSON.parse(out)).toMatchObject({ data: { runs: { length: 1, 0: { tag } } } });
    const named = await run('session', 'close', id, '--run', tag);
    expect(named.talk).toBe(`Next: workrail session close ${id} --run ${tag} --undo\n`);
    const byId = await run('session', 'close', String(told(first, 'session.runId')), '--undo', '--json');
    expect(JSON.parse(byId.out)).toMatchObject({ data: { runs: { length: 1, 0: { tag } } } });
    const unknown = await run('session', 'close', id, '--run', 'zzzz');
    expect(unknown).toMatchObject({ exitCode: 3, talk: expect.stringContaining(`Its runs are ${tag} (test.plain), `) });
  });
});

describe('session keep', () => {
  it('session keep protects a session from gc until it is undone', async () => {
    const { run, id, time } = await world();
    expect(await run('session', 'keep', id)).toMatchObject({
      exitCode: 0,
      out: `${id} is kept: gc never deletes it.\n`,
      talk: `Next: workrail session keep ${id} --undo\n`,
    });
    time.nowMs += 200 * DAY_MS;
    const { out } = await run('gc');
    expect(out).toBe(`Nothing to delete.\n1 session not deleted: 1 marked as kept (${id}).\n`);
    const undone = sessionKeepShape.parse(JSON.parse((await run('session', 'keep', id, '--undo', '--json')).out));
    expect(undone).toMatchObject({ data: { sessions: [{ sessionId: id, isKept: false }] } });
    expect((await run('gc')).out).toContain('Removed 1 session last written more than 90 days ago');
    expect((await run('session', 'keep', id)).exitCode).toBe(3);
  });
});

it('a session without its manifest is reported as damaged, not as missing', async () => {
  const { run, send, first, id, root } = await world();
  // One lost append might never have been made.
  await send(first, { notes: 'On.' });
  rmSync(join(root, layout.manifest(id)));
  for (const argv of [
    ['close', id],
    ['keep', id],
    ['prefer', id, 'guided'],
  ]) {
    const { exitCode, out } = await run('session', ...argv, '--json');
    expect([exitCode, JSON.parse(out).error.code]).toEqual([1, 'STORE_CORRUPT']);
  }
});

describe('session delete', () => {
  it('session delete asks and deletes nothing without a confirmation', async () => {
    enforces('cli_interaction_switches', 'cli_exit_codes');
    const { run, id, store } = await world();
    const asked: string[] = [];
    const nobody = [{}, { terminals: ['input'] as const }];
    for (const [exitCode, world] of [
      ...nobody.map((world) => [5, world] as const),
      [5, answering(false, asked)] as const,
      [130, answering(undefined, asked)] as const,
    ]) {
      const refused = await run('session', 'delete', id, world);
      expect(refused).toMatchObject({ exitCode, out: '' });
      expect(refused.talk).toContain(`workrail session delete ${id} --yes`);
    }
    expect((await run('session', 'delete', id, '--json', answering(true))).exitCode).toBe(5);
    expect((await store.sessions.list())._unsafeUnwrap()).toEqual([id]);
    expect(asked).toEqual(Array(2).fill('Delete 1 session? You can restore it for 30 days.'));
    const done = await run('session', 'delete', id, answering(true, asked));
    expect(done).toMatchObject({ exitCode: 0, talk: expect.stringMatching(new RegExp(`^${id} {2}Repair the shop\n`)) });
  });

  it('session delete moves sessions to a bin, and --undo restores them', async () => {
    const { run, id, store } = await world();
    expect(await run('session', 'delete', id.slice(0, 10), '--yes')).toMatchObject({
      exitCode: 0,
      out: `Moved ${id} to the bin; gc deletes it after 30 days.\n`,
      talk: `Next: workrail session delete --undo ${id}\n`,
    });
    expect((await run('session', 'delete', id, '--yes')).exitCode).toBe(3);
    expect((await run('session', 'delete', '--undo')).out).toBe(`${id}  deleted 2026-01-01 10:00 UTC\n`);
    expect((await run('session', 'delete', '--undo', 'nowhere')).talk).toContain(`In the bin: ${id}.`);
    expect(await run('session', 'delete', '--undo', id.slice(-5))).toMatchObject({
      exitCode: 0,
      out: `Restored ${id}.\n`,
      talk: `Next: workrail session verify ${id}\n`,
    });
    expect((await store.audit.audit(id))._unsafeUnwrap().findings).toEqual([]);
    expect((await run('session', 'delete', '--undo', id)).exitCode).toBe(3);
    expect((await run('session', 'delete', '--undo')).out).toBe('The bin is empty.\n');
    expect((await run('session', 'delete')).exitCode).toBe(2);
  });

  it('session delete deletes the others if one session is in use, and prints its published shape', async () => {
    const { run, start, id, store, ...parts } = await world();
    const other = idOf(await start('test.plain'));
    let nowMs = 0;
    const waiting = {
      nowMs: () => nowMs,
      pause: async () => {
        nowMs += 500;
      },
    };
    const upkeep = { ...storeOf({ ...parts, waiting }), hasher: nodeHasher, clock: { nowMs: () => 7 } };
    const json = async (...args: string[]) =>
      sessionDeleteShape.parse(JSON.parse((await run('session', 'delete', ...args, '--json', { upkeep })).out));
    const refused = await store.sessions.exclusively(id, async () => ok(await json(id, other, '--yes')));
    expect(refused).toMatchObject({
      value: {
        ok: false,
        error: { code: 'SESSION_LOCKED' },
        data: { deleted: [other], failed: [{ sessionId: id, code: 'SESSION_LOCKED' }] },
      },
    });
    expect(await json('--undo')).toMatchObject({ data: { bin: [{ sessionId: other, deletedAtMs: 7 }] } });
    expect(await json('--undo', other)).toMatchObject({ data: { restored: [other] } });
  });
});

describe('session prefer', () => {
  it('session prefer changes the mode from the next step and shows the old one', async () => {
    enforces('preferences_set_from_cli');
    const { run, send, first, id, tag } = await world();
    expect(await run('session', 'prefer', id, 'full-auto-never-stop', typing())).toMatchObject({
      exitCode: 0,
      out: `Run ${tag} of test.plain continues in full_auto_never_stop (risk conservative); it was guided (risk conservative).\n`,
      talk: expect.stringContaining(`Next: workrail session resume ${id}`),
    });
    expect(told(await send(first), 'preferences.autonomy')).toBe('full_auto_never_stop');
    const byTag = await run('session', 'prefer', tag, '--risk', 'aggressive', typing());
    expect(byTag.talk).toContain(`Next: workrail session resume ${tag}`);
    const json = (await run('session', 'prefer', tag, '--risk', 'balanced', '--json')).out;
    expect(sessionPreferShape.parse(JSON.parse(json))).toMatchObject({
      ok: true,
      data: { runs: [{ effective: { autonomy: 'full_auto_never_stop', riskPolicy: 'balanced' }, isChanged: true }] },
    });
    expect((await run('session', 'prefer', id, '--risk', 'balanced')).out).toContain('(risk balanced); unchanged.');
  });

  it('session prefer allows an agent more only at a terminal and after a code was typed', async () => {
    enforces('loosening_needs_terminal');
    const { run, id, tag, store } = await world();
    const length = async () => (await store.sessions.load(id))._unsafeUnwrap().view.nextEventIndex;
    const before = await length();
    const more = ['session', 'prefer', id, 'full_auto_never_stop'];
    const refused = await run(...more);
    expect(refused).toMatchObject({ exitCode: 5, out: '' });
    expect(refused.talk).toContain(`Run ${tag} would change from guided (risk conservative) to full_auto_never_stop`);
    expect(refused.talk).toContain(`Run this in a terminal of your own: workrail ${more.join(' ')}`);
    expect((await run(...more, '--yes')).exitCode).toBe(2);
    expect((await run(...more, { terminals: ['input', 'error'] })).exitCode).toBe(5);
    expect((await run(...more, '--json', typing())).exitCode).toBe(5);
    expect((await run(...more, typing('yes'))).exitCode).toBe(5);
    expect((await run(...more, typing(undefined))).exitCode).toBe(130);
    expect(await length()).toBe(before);
    expect((await run(...more, typing())).exitCode).toBe(0);
    expect((await run('session', 'prefer', id, 'guided')).exitCode).toBe(0);
  });

  it('session prefer of the mode that the agent set says what changes: who set it, and what that means for gates', async () => {
    const { run, start, store, time } = await world();
    const begun = await start('test.plain', { mode: 'full_auto_never_stop' });
    const [id, tag] = [idOf(begun), String(told(begun, 'run.tag'))];
    const same = ['session', 'prefer', id, 'full_auto_never_stop'];
    const refused = await run(...same);
    expect(refused.exitCode).toBe(5);
    expect(refused.talk).toContain(
      `Run ${tag} is already in full_auto_never_stop (risk conservative), set by the agent. If you set this mode, the run goes past gates that wait for a person, and records a gap for each.`,
    );
    expect(refused.talk).not.toContain('would change');
    const by = { via: 'cli', terminal: true } as const;
    const upkeep = { ...store, hasher: nodeHasher, clock: { nowMs: () => time.nowMs }, by };
    expect((await run(...same, { ...typing(), upkeep })).out).toBe(
      `Run ${tag} of test.plain continues in full_auto_never_stop (risk conservative), now set by a person (before: set by the agent).\n`,
    );
  });

  it('session prefer of a finished run advises about what was asked for, the mode or the risk policy', async () => {
    const { run, send, first, id } = await world();
    let reply = first;
    while (told(reply, 'isComplete') !== true) reply = await send(reply, { notes: 'Done.' });
    expect((await run('session', 'prefer', id, 'guided')).talk).toContain('start_workflow takes "mode"');
    const risk = await run('session', 'prefer', id, '--risk', 'balanced');
    expect(risk.talk).toContain('Fix: To set it for later runs: workrail config set riskPolicy balanced');
    expect(risk.talk).not.toContain('mode');
  });

  it('session prefer goes no further than autonomy.max', async () => {
    const { run, id } = await world();
    const env = { WORKRAIL_AUTONOMY_MAX: 'full_auto_stop_on_user_deps' };
    const setup = fakeSetup({ machine: { env } });
    const { out, talk } = await run('session', 'prefer', id, 'full_auto_never_stop', { ...typing(), setup });
    // A person is shown this before the code.
    expect(talk).toContain('autonomy.max (WORKRAIL_AUTONOMY_MAX) allows at most full_auto_stop_on_user_deps.');
    expect(out).not.toContain('allows at most');
    expect(out).toContain('continues in full_auto_stop_on_user_deps');
  });

  it('session prefer suggests the mode that was meant', async () => {
    const { run, id } = await world();
    expect(await run('session', 'prefer', id, 'guidde')).toMatchObject({
      exitCode: 2,
      talk: expect.stringMatching(/^VALIDATION_ERROR: Unknown mode "guidde"\.\nFix: Did you mean guided\? /),
    });
    expect((await run('session', 'prefer', id)).exitCode).toBe(2);
    expect((await run('session', 'prefer', 'nowhere', 'guided')).exitCode).toBe(3);
  });
});

describe('gc', () => {
  it('gc --dry-run shows what would be deleted and what not, and changes nothing', async () => {
    enforces('cli_gc_dry_run', 'retention_ttl_configurable');
    const { run, id, root, time } = await world();
    time.nowMs += 8 * DAY_MS;
    const before = readdirSync(root, { recursive: true }).sort();
    expect((await run('gc', '--dry-run')).out).toBe(
      'Nothing to delete.\nThe only session was written or imported in the last 90 days.\n',
    );
    const dry = await run('gc', '--dry-run', '--older-than', '1w');
    expect(dry.out).toMatch(
      new RegExp(
        `^${id}  last written more than 7 days ago\nWould remove 1 session last written more than 7 days ago, \\d+ files: .*\n$`,
      ),
    );
    expect(dry.talk).toBe('Next: workrail gc --older-than 1w\n');
    expect(readdirSync(root, { recursive: true }).sort()).toEqual(before);
    const json = gcShape.parse(JSON.parse((await run('gc', '--older-than', '7d', '--json')).out));
    expect(json).toMatchObject({ ok: true, data: { isDryRun: false, olderThanDays: 7, removed: { sessions: [id] } } });
    expect(readdirSync(join(root, layout.sessions))).toEqual([]);
    for (const time of ['0d', 'soon', '7', '-1d']) expect((await run('gc', '--older-than', time)).exitCode).toBe(2);
  });

  it('gc empties the bin after 30 days, or with --empty-bin', async () => {
    const { run, start, id, time } = await world();
    const other = idOf(await start('test.plain'));
    await run('session', 'delete', id, '--yes');
    time.nowMs += 20 * DAY_MS;
    await run('session', 'delete', other, '--yes');
    expect((await run('gc')).out).toMatch(/2 deleted sessions can still be restored from the bin\.\n$/);
    time.nowMs += 11 * DAY_MS;
    expect((await run('gc')).out).toMatch(/^Removed 1 deleted session, .*\n1 deleted session can still/);
    expect((await run('gc', '--empty-bin', '--yes')).out).toMatch(/^Removed 1 deleted session, .* freed\.\n$/);
    expect((await run('session', 'delete', '--undo')).out).toBe('The bin is empty.\n');
  });

  it('gc asks before it empties the bin', async () => {
    const { run, id, store } = await world();
    await run('session', 'delete', id, '--yes');
    const unasked = await run('gc', '--empty-bin');
    expect([unasked.exitCode, unasked.talk]).toEqual([5, expect.stringContaining('workrail gc --empty-bin --yes\n')]);
    const asked: string[] = [];
    expect((await run('gc', '--empty-bin', answering(false, asked))).exitCode).toBe(5);
    expect(asked).toEqual(['Remove 1 deleted session for good?']);
    expect((await store.bin.list())._unsafeUnwrap()).toHaveLength(1);
    expect((await run('gc', '--empty-bin', answering(true))).out).toMatch(/^Removed 1 deleted session, /);
  });

  it('gc removes nothing if a session is damaged, and says what to do', async () => {
    enforces('gc_safe_mode');
    const { run, id, root, time } = await world();
    appendFileSync(join(root, layout.manifest(id)), '{"v":1}\n');
    time.nowMs += 200 * DAY_MS;
    const refused = await run('gc');
    expect(refused).toMatchObject({ exitCode: 1, out: '' });
    expect(refused.talk).toMatch(
      new RegExp(`^STORE_CORRUPT: 1 session \\(${id}\\) .* Nothing was removed\\.\nFix: .*delete the session\\.\n`),
    );
    expect((await run('session', 'delete', id, '--yes')).exitCode).toBe(0);
    expect((await run('gc')).talk).toMatch(/^STORE_CORRUPT: 1 deleted session .*\nFix: Run "workrail gc --empty-bin"/);
    expect((await run('gc', '--empty-bin', '--yes')).exitCode).toBe(0);
  });

  it('gc refuses to run without native file locks', async () => {
    enforces('gc_needs_native_lock');
    const { run } = await world({ locks: async () => claimLocks });
    expect(await run('gc')).toMatchObject({ exitCode: 1, talk: expect.stringContaining('fs-native-extensions') });
  });

  it('no other command collects garbage', async () => {
    enforces('gc_started_by_person');
    const { run, id, store, time, start, first, send } = await world();
    time.nowMs += 400 * DAY_MS;
    const collector = { collect: async () => expect.fail('nobody asked for it') };
    const upkeep = { ...store, hasher: nodeHasher, clock: { nowMs: () => time.nowMs }, collector };
    for (const verb of ['close', 'keep', 'prefer', 'delete']) {
      await run('session', verb, id, ...(verb === 'prefer' ? ['guided'] : verb === 'delete' ? ['--yes'] : []), {
        upkeep,
      });
      if (verb === 'keep') await send(first, { notes: 'Going on.' });
    }
    await start('test.plain');
    expect((await store.bin.list())._unsafeUnwrap()).toHaveLength(1);
  });
});

it('an address that is not one of a database is refused before anything is opened', async () => {
  // In an address, # and / of a password are written as %23 and %2F.
  for (const url of ['postgres://rail:pa#ss@db/rail', 'mysql://db/rail']) {
    const { exitCode, talk } = await runFake({ argv: ['space', 'list', '--database-url', url] });
    expect([exitCode, talk]).toEqual([2, expect.stringContaining('--database-url is not the address of a database.')]);
  }
  const argv = ['store', 'copy', '--space', 'shop', '--to', 'postgres://rail:pa#ss@db/rail'];
  const { exitCode, talk } = await runFake({ argv });
  expect([exitCode, talk]).toEqual([2, expect.stringContaining('--to is not the address of a database.')]);
});

it.each(['0x10', ' 5 ', '1e3', '-1', '', '.5'])(
  'the limits of a space are plain decimal numbers, not "%s"',
  (written) => {
    const asked = (option: 'maxSize' | 'maxSessions') => settingChanges(undefined, { [option]: written });
    expect([asked('maxSize').isErr(), asked('maxSessions').isErr()]).toEqual([true, true]);
    expect(settingChanges(undefined, { maxSize: '0.5', maxSessions: '10' })._unsafeUnwrap()).toEqual([
      { openSessionsMax: 10 },
      { bytesMax: 500_000_000 },
    ]);
  },
);
