import { ok } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { runFake } from '../../../test/cli/fake-program.ts';
import { fakeSetup, HOME, PROGRAM } from '../../../test/cli/fake-setup.ts';
import { enforces } from '../../../test/enforces.ts';
import { HEALTHY } from '../../../test/examples/audits.ts';
import type { TrialLaunch, TrialResult } from '../../app/ports/machine-health.ts';
import { resolveSettings } from '../../core/settings/resolve-settings.ts';
import { commandShape } from '../command-shape.ts';
import { doctor } from './doctor.ts';

const doctorShape = commandShape('doctor', doctor.data);

const CURSOR = `${HOME}/.cursor/mcp.json`;
const ZED = `${HOME}/.config/zed/settings.json`;
const OURS = { command: '/usr/bin/node', args: [PROGRAM, 'serve'], env: {} };
const entry = (launch: object) => JSON.stringify({ mcpServers: { workrail: launch } });

/** Wherever Cursor is registered. */
const NO_FORMS = {
  check: 'forms',
  kind: 'note',
  text: 'Cursor (~/.cursor/mcp.json): Cursor does not show forms in 3.10, although it says that it can',
} as const;

type Fake = NonNullable<Parameters<typeof fakeSetup>[0]>;

async function examined(fake: Fake, ...argv: string[]) {
  const ran = await runFake({ argv: ['doctor', '--json', ...argv], setup: fakeSetup(fake) });
  const document = doctorShape.parse(JSON.parse(ran.out));
  const findings = document.data?.findings ?? [];
  return {
    exitCode: ran.exitCode,
    findings,
    told: findings.filter(({ kind }) => kind !== 'good'),
  };
}

describe('doctor', () => {
  it('doctor prints commands that can be copied, even if the program is started by its path', async () => {
    const health = {
      tryLaunch: async (): Promise<TrialResult> => ({ kind: 'works', version: '0.0.1', tools: 6, ms: 9 }),
    };
    const setup = fakeSetup({ files: new Map([[CURSOR, entry({ ...OURS, args: ['/gone.js'] })]]), health });
    const { out } = await runFake({ argv: ['doctor'], setup, calledAs: 'node dist/workrail.js' });
    expect(out).toMatch(/^ {2}→ .*node dist\/workrail\.js [a-z]/m);
    expect(out).not.toMatch(/^ {2}→ (?:.*[\s"])?workrail [a-z]/m);
  });

  it('doctor starts every registered server once and finds nothing wrong on a healthy machine', async () => {
    enforces('doctor_really_starts_clients');
    const rehearsals: TrialLaunch[] = [];
    const tryLaunch = async (trialLaunch: TrialLaunch): Promise<TrialResult> => {
      rehearsals.push(trialLaunch);
      return { kind: 'works', version: '1.2.3', tools: 6, ms: 90 };
    };
    const files = new Map([
      [CURSOR, entry(OURS)],
      [`${HOME}/.codeium/windsurf/mcp_config.json`, entry(OURS)],
      [`${HOME}/.gemini/settings.json`, entry(OURS)],
    ]);
    const { exitCode, findings, told } = await examined({ files, health: { tryLaunch } });
    expect({ exitCode, told }).toMatchObject({ exitCode: 0, told: [NO_FORMS] });
    expect(findings.map(({ check }) => check)).toEqual([
      ...['node', 'config', 'data', 'keyring', 'locks', 'index', 'sessions', 'versions'],
      ...['clients', 'clients', 'clients', 'forms'],
    ]);
    expect(rehearsals).toEqual([
      { launch: OURS, environment: 'shell' },
      { launch: OURS, environment: 'window' },
    ]);
  });

  it('doctor --fix corrects a stale path, and leaves a missing registration to init', async () => {
    const files = new Map([[CURSOR, entry({ command: '/gone/node', args: [PROGRAM, 'serve'] })]]);
    const tryLaunch = async ({ launch }: TrialLaunch): Promise<TrialResult> =>
      launch.command === '/gone/node'
        ? { kind: 'stale', missing: '/gone/node' }
        : { kind: 'works', version: '1.2.3', tools: 6, ms: 90 };
    const stale = await examined({ files, health: { tryLaunch } });
    expect(stale).toMatchObject({
      exitCode: 4,
      told: [
        { check: 'clients', kind: 'fault', text: 'Cursor (~/.cursor/mcp.json): /gone/node does not exist any more' },
        NO_FORMS,
      ],
    });
    expect(files.get(CURSOR)).toContain('/gone/node');
    expect(await examined({ files, health: { tryLaunch } }, '--fix')).toMatchObject({
      exitCode: 0,
      told: [{ kind: 'mended' }, NO_FORMS],
    });
    expect(await examined({ files, health: { tryLaunch } })).toMatchObject({ exitCode: 0, told: [NO_FORMS] });

    files.set(CURSOR, '{}');
    const gone = await examined({ files });
    expect(gone).toMatchObject({
      exitCode: 0,
      told: [{ kind: 'note', text: expect.stringContaining('is missing in'), fix: 'workrail init --client cursor' }],
    });
    // Only the user decides which clients start workrail.
    await examined({ files }, '--fix');
    expect(files.get(CURSOR)).toBe('{}');
  });

  it('doctor reports an unregistered client as a note, and --fix does not register it', async () => {
    const files = new Map([
      [CURSOR, '{}'],
      [ZED, '{}'],
    ]);
    expect(await examined({ files }, '--fix')).toMatchObject({
      exitCode: 0,
      told: [{ kind: 'note' }, { kind: 'note' }],
    });
    expect([...files.values()]).toEqual(['{}', '{}']);
    files.set(CURSOR, entry(OURS));
    expect(await examined({ files })).toMatchObject({
      exitCode: 0,
      told: [
        {
          kind: 'note',
          text: 'Zed is installed, but workrail is not registered with it',
          fix: 'workrail init --client zed',
        },
        NO_FORMS,
      ],
    });
    expect(await examined({})).toMatchObject({
      exitCode: 0,
      told: [{ kind: 'note', text: 'no agent client found on this machine' }],
    });
  });

  it('doctor tries what a team committed: the command on the PATH, or the copy that is running', async () => {
    enforces('init_project_can_be_committed');
    const runner = { command: 'npx', args: ['--no', '--', 'workrail', 'serve'] };
    const byName = { command: 'workrail', args: ['serve'] };
    const copy = '/work/shop/node_modules/workrail/dist/workrail.js';
    const seen = async (entry: object, more: { programPath?: string; programs?: Record<string, string[]> } = {}) => {
      const launches: unknown[] = [];
      const { programPath, programs } = more;
      const setup = fakeSetup({
        files: new Map([['/work/shop/.cursor/mcp.json', JSON.stringify({ mcpServers: { workrail: entry } })]]),
        ...(programPath === undefined ? {} : { machine: { programPath } }),
        ...(programs === undefined ? {} : { programs }),
        health: {
          tryLaunch: async ({ launch, environment }) => {
            launches.push([launch.command, ...launch.args, environment]);
            return { kind: 'works', version: '1.2.3', tools: 6, ms: 1 };
          },
        },
      });
      const { out } = await runFake({ argv: ['doctor'], setup });
      return { out, launches };
    };
    expect(await seen(byName)).toEqual({ out: expect.stringContaining('no workrail is on the PATH'), launches: [] });
    const installed = await seen(byName, { programs: { workrail: ['/usr/bin/workrail'] } });
    expect(installed.launches).toEqual([['workrail', 'serve', 'shell']]);
    // A repository could hold anything in that place, so only the program that the user runs is started.
    expect(await seen(runner)).toEqual({ out: expect.stringContaining('npx --no -- workrail doctor'), launches: [] });
    expect((await seen(runner, { programPath: copy })).launches).toEqual([['/usr/bin/node', copy, 'serve', 'shell']]);
  });

  it('doctor says if nobody accepted the sources that a project asks for', async () => {
    enforces('project_sources_need_a_person');
    const unacceptedSources = async () => ['flows', 'more'];
    const { told, exitCode } = await examined({
      files: new Map([[CURSOR, entry(OURS)]]),
      health: { unacceptedSources },
    });
    expect(exitCode).toBe(0);
    expect(told).toMatchObject([
      NO_FORMS,
      {
        check: 'sources',
        kind: 'note',
        text: expect.stringContaining('the sources flows, more. Nobody has accepted that here'),
        fix: 'workrail source accept',
      },
    ]);
  });

  it('doctor does not start servers from project files, which may be anything', async () => {
    enforces('doctor_really_starts_clients');
    const files = new Map([['/work/shop/.mcp.json', entry({ command: 'curl', args: ['evil.example'] })]]);
    const tryLaunch = async () => expect.fail('started');
    const { told } = await examined({ files, health: { tryLaunch } });
    expect(told).toMatchObject([{ kind: 'note', text: expect.stringContaining('It was not tried') }]);
  });

  it('doctor reports a client that starts another version or fails, with its output', async () => {
    const files = new Map([[CURSOR, entry(OURS)]]);
    const old = await examined({
      files,
      health: { tryLaunch: async () => ({ kind: 'works', version: '1.0.0', tools: 6, ms: 9 }) },
    });
    expect(old.told).toMatchObject([
      { text: 'Cursor (~/.cursor/mcp.json) starts version 1.0.0, but this is 1.2.3' },
      NO_FORMS,
    ]);
    const failing = { kind: 'fails', at: 'the start', said: 'Connection closed' } as const;
    const failed = await examined({ files, health: { tryLaunch: async () => failing } });
    expect(failed.told).toMatchObject([
      { text: expect.stringContaining('fails at the start: Connection closed') },
      NO_FORMS,
    ]);
  });

  it('doctor finds other problems and fixes what it can', async () => {
    const files = new Map([[CURSOR, entry(OURS)]]);
    const fixed: string[] = [];
    const open = { path: '/data/workrail', found: '755', wanted: '700' };
    const fake: Fake = {
      files,
      machine: { nodeVersion: '18.20.0' },
      programs: { workrail: [PROGRAM, '/old/workrail.js'] },
      config: () => resolveSettings([], { WORKRAIL_LOG: 'loud' }),
      health: {
        dataFolder: async () => ({ path: '/data/workrail', canWrite: true, open: [open] }),
        closeToOthers: async (places) => {
          fixed.push(...places.map(({ path }) => path));
          return [];
        },
        nativeLock: async () => ({ isLoaded: false, cause: 'ERR_MODULE_NOT_FOUND' }),
        index: {
          inspect: async () => ok({ total: 3, stale: 2, suspects: [] }),
          rebuild: async () => {
            fixed.push('index');
            return ok(undefined);
          },
        },
        versionOf: async () => '0.9.0',
      },
    };
    const found = await examined(fake);
    expect(found.exitCode).toBe(4);
    expect(found.told.map(({ check, kind, isMendable }) => `${check} ${kind} ${isMendable}`)).toEqual([
      'node fault false',
      'config fault false',
      'data fault true',
      'locks note false',
      'index note true',
      'versions fault false',
      'forms note false',
    ]);
    expect(found.told.at(-2)?.text).toBe(
      `several versions are installed: 1.2.3 at ${PROGRAM}, 0.9.0 at /old/workrail.js`,
    );
    expect(fixed).toEqual([]);
    const after = await examined(fake, '--fix');
    expect(after.told.filter(({ kind }) => kind === 'mended').map(({ check }) => check)).toEqual(['data', 'index']);
    expect(fixed).toEqual(['/data/workrail', 'index']);
  });

  it('doctor claims no version for a workrail on the PATH that does not report one', async () => {
    const files = new Map([[CURSOR, entry(OURS)]]);
    const { told } = await examined({ files, programs: { workrail: ['/usr/bin/workrail'] } });
    expect(told.map(({ text }) => text)).toEqual([
      `several versions are installed: unknown version at /usr/bin/workrail, 1.2.3 at ${PROGRAM}`,
      NO_FORMS.text,
    ]);
  });

  it('doctor ends with what to do next', async () => {
    enforces('cli_last_line_suggests_next');
    const files = new Map([[CURSOR, '{}']]);
    const ill = await runFake({ argv: ['doctor'], setup: fakeSetup({ files }) });
    expect(ill.talk).toMatch(/Next: workrail init\n$/);
    expect(ill.out).toContain(
      '• Cursor is installed, but workrail is not registered with it\n  → workrail init --client cursor',
    );
    const old = await runFake({ argv: ['doctor'], setup: fakeSetup({ machine: { nodeVersion: '18.0.0' } }) });
    expect(old.talk).toMatch(/\nNext: workrail doctor\n$/);
    const tryLaunch = async (): Promise<TrialResult> => ({ kind: 'works', version: '1.2.3', tools: 6, ms: 9 });
    const sound = fakeSetup({ files: new Map([[CURSOR, entry(OURS)]]), health: { tryLaunch } });
    expect((await runFake({ argv: ['doctor'], setup: sound })).talk).toMatch(
      /Next: restart the client and say "List the WorkRail workflows [^\n]*\n$/,
    );
    const health = {
      ...sound.health,
      sessions: { ...sound.health.sessions, list: async () => ok([HEALTHY.sessionId]) },
      audit: { audit: async () => ok(HEALTHY) },
    };
    const used = { ...sound, health };
    expect((await runFake({ argv: ['doctor'], setup: used })).talk).toMatch(/Next: workrail status\n$/);
  });
});
