import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runFake } from '../../../test/cli/fake-program.ts';
import { fakeSetup } from '../../../test/cli/fake-setup.ts';
import { enforces } from '../../../test/enforces.ts';
import { exported, exportServices } from '../../../test/examples/bundles.ts';
import { engine } from '../../../test/examples/engine.ts';
import { sharedSession } from '../../../test/examples/shared-session.ts';
import { numberedSession, storeFolder } from '../../../test/store-folder.ts';
import { readBundleFile } from '../../adapters/bundle.ts';
import { storeOf } from '../../adapters/file-store/file-store.ts';
import { re2Patterns } from '../../adapters/patterns.ts';
import { nodeHasher } from '../../adapters/system.ts';
import { resumeSession } from '../../app/resume/resume-session.ts';
import { importCommand } from '../bundle/import.ts';
import { commandShape } from '../command-shape.ts';
import { sessionAccept } from './session-accept.ts';

const acceptShape = commandShape('session accept', sessionAccept.data);
const importShape = commandShape('import', importCommand.data);

type Fake = Parameters<typeof runFake>[0];

/** Types the code that the question shows. */
const typing = (questions: string[], type = (code: string) => code): Partial<Fake> => ({
  terminals: ['input', 'output', 'error'],
  ask: {
    write: async ({ message }) => {
      questions.push(message);
      return type(/Type (\S+) to/.exec(message)?.[1] ?? '');
    },
    confirm: async (message) => {
      questions.push(message);
      return true;
    },
  },
});

async function world() {
  const home = engine();
  const { sessionId } = await sharedSession(home);
  const folder = mkdtempSync(join(tmpdir(), 'workrail-accept-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'session.json');
  const pack = async () => writeFileSync(file, (await exported(home.services, sessionId))._unsafeUnwrap().file);
  await pack();
  const store = storeOf(storeFolder());
  const ids = { ...home.services.ids, session: () => numberedSession(9) };
  const there = engine({ store, services: { ids } });
  const clock = { nowMs: () => Date.parse('2026-01-03T00:00:00Z') };
  const upkeep = { ...store, hasher: nodeHasher, clock };
  const services = {
    ...exportServices(store),
    ...there.services,
    ...store,
    clock,
    patterns: { load: async () => re2Patterns() },
  };
  const bundleAccess = {
    homes: [],
    services,
    input: readBundleFile,
    pdf: async () => expect.fail('nothing is printed'),
    output: async () => expect.fail('nothing is written'),
    seal: { isSealed: () => false, output: async () => expect.fail(), open: async () => expect.fail() },
  };
  const sessionAccess = { ...there.services, ...store, clock, folder: '/elsewhere', columns: () => 200 };
  const run = (...args: (string | Partial<Fake>)[]) => {
    const argv = args.filter((arg) => typeof arg === 'string');
    const more = args.find((arg) => typeof arg === 'object') ?? {};
    return runFake({ argv, upkeep, bundleAccess, sessionAccess, setup: fakeSetup(), ...more });
  };
  return { run, sessionId, file, store, home, pack, origin: () => store.marks.origin(sessionId) };
}

describe('session accept', () => {
  it('session accept needs a terminal and the shown code, and no flag replaces them', async () => {
    enforces('accept_needs_person');
    const { run, sessionId, file, origin } = await world();
    expect((await run('import', file)).exitCode).toBe(0);
    const refused = await run('session', 'accept', sessionId);
    expect([refused.exitCode, refused.out]).toEqual([5, '']);
    expect(refused.talk).toContain(`Run this in a terminal of your own: workrail session accept ${sessionId}`);
    expect((await run('session', 'accept', sessionId, '--yes')).exitCode).toBe(2);
    const json = await run('session', 'accept', sessionId, '--json', typing([]));
    expect([json.exitCode, acceptShape.parse(JSON.parse(json.out)).ok]).toEqual([5, false]);
    expect(
      (
        await run(
          'session',
          'accept',
          sessionId,
          typing([], () => 'XXXX'),
        )
      ).exitCode,
    ).toBe(5);
    expect(await origin()).not.toHaveProperty('acceptedAt');

    const questions: string[] = [];
    const accepted = await run('session', 'accept', sessionId, typing(questions));
    expect(accepted).toMatchObject({ exitCode: 0, out: `Accepted ${sessionId}: agents can resume it.\n` });
    expect(questions).toHaveLength(1);
    expect(accepted.talk).toContain('imported 2026-01-03 00:00 UTC from a file written by WorkRail 1.2.3');
    expect(accepted.talk).toContain('It has 2 runs and 32 events.');
    expect(accepted.talk).toMatch(
      /Run \w{4} of test\.plain \(project; this WorkRail does not know its hash\): "To be shared"/,
    );
    expect(accepted.talk).toContain('It claims no answers of people and no checks.');
    expect(await origin()).toHaveProperty('acceptedAt');
    const again = acceptShape.parse(JSON.parse((await run('session', 'accept', sessionId, '--json')).out));
    expect(again).toMatchObject({ ok: true, data: { isChanged: false, origin: { kind: 'imported' } } });
  });

  it('list, show, status and resume say that a session was imported and not accepted', async () => {
    const { run, sessionId, file } = await world();
    await run('import', file);
    expect((await run('session', 'list')).out).toContain('blocked, imported, not accepted');
    const shown = (await run('session', 'show', sessionId)).out;
    expect(shown).toContain('origin     imported 2026-01-03 00:00 UTC from a file written by WorkRail 1.2.3');
    expect(shown).toContain(`To let agents resume it: workrail session accept ${sessionId}`);
    expect(shown).toContain('source     project');
    expect((await run('status')).out).toContain('imported, not accepted');
    const { exitCode, talk } = await run('session', 'resume', sessionId, '--json');
    expect([exitCode, talk]).toEqual([5, '']);
  });
});

describe('import of a session', () => {
  it('import asks once in a terminal and accepts', async () => {
    const { run, sessionId, file, origin } = await world();
    const questions: string[] = [];
    const { out } = await run('import', file, typing(questions));
    expect(out).toContain(`Accepted ${sessionId}: agents can resume it.`);
    expect(questions).toEqual([expect.stringMatching(/^Type \w{4} to accept this session\.$/)]);
    expect(await origin()).toHaveProperty('acceptedAt');
  });

  it('import --no-accept does not ask, and without a terminal nothing is accepted either', async () => {
    const { run, file, origin, sessionId } = await world();
    const questions: string[] = [];
    const { out } = await run('import', file, '--no-accept', typing(questions));
    expect([out.includes(`workrail session accept ${sessionId}`), questions]).toEqual([true, []]);
    expect(await origin()).not.toHaveProperty('acceptedAt');
    const copy = importShape.parse(JSON.parse((await run('import', file, '--json')).out));
    expect(copy).toMatchObject({ data: { isAccepted: false, earlier: { sessionId, newEvents: 0 } } });
  });

  it('import offers to update a session that was imported before', async () => {
    const { run, file, home, pack, sessionId, store } = await world();
    await run('import', file);
    expect((await run('import', file, '--update', '--json')).exitCode).toBe(0);
    await home.start('test.plain', { attachTo: await tokenIn(home, sessionId) });
    await pack();
    const questions: string[] = [];
    const { out } = await run('import', file, typing(questions));
    expect(questions[0]).toBe('Update that session instead of making a copy?');
    expect(out).toMatch(new RegExp(`^Updated ${sessionId}: \\d+ new events\\.\n`));
    expect((await store.sessions.list())._unsafeUnwrap()).toEqual([sessionId]);
    const refused = await run('import', await strange(home, file), '--update');
    expect([refused.exitCode, refused.talk]).toEqual([3, expect.stringContaining('without --update')]);
  });
});

async function tokenIn({ services }: ReturnType<typeof engine>, sessionId: string): Promise<string> {
  const reply = (await resumeSession(services, { sessionId }))._unsafeUnwrap();
  return String(reply.structured['stateToken']);
}

/** A bundle of a session that is unknown everywhere else. */
async function strange(home: ReturnType<typeof engine>, beside: string): Promise<string> {
  const reply = await home.start('test.skips');
  const { sessionId } = reply.structured['session'] as { readonly sessionId: never };
  const file = `${beside}.other.json`;
  writeFileSync(file, (await exported(home.services, sessionId))._unsafeUnwrap().file);
  return file;
}
