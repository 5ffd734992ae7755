import { ok } from 'neverthrow';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { runFake } from '../../../test/cli/fake-program.ts';
import { enforces } from '../../../test/enforces.ts';
import { DAMAGED, HEALTHY, HIDDEN, NEWER, NOTED, WITHOUT_CONTENT } from '../../../test/examples/audits.ts';
import { OTHER_SESSION, RUN, SESSION } from '../../../test/examples/ids.ts';
import type { SessionAudit } from '../../app/ports/upkeep.ts';
import { fingerprintSchema, runTag, stepIdSchema } from '../../core/log/ids.ts';
import { commandShape } from '../command-shape.ts';
import type { AnswerAccess, ApproverAccess } from '../program.ts';
import { approvalProblem, gateLines } from './approval-lines.ts';
import { sessionVerify } from './session-verify.ts';

const sessionVerifyShape = commandShape('session verify', sessionVerify.data);

/** Without the line about what such a check cannot find, which has a test of its own. */
const verify = async (audits: readonly SessionAudit[], ...args: string[]) => {
  const ran = await runFake({ argv: ['session', 'verify', ...args], audits });
  return { ...ran, out: ran.out.replace(/^Checked: the hash chain.*\n/m, '') };
};

describe('session verify', () => {
  it('session verify names the data directory if there is no session', async () => {
    expect(await verify([])).toEqual({
      exitCode: 0,
      out: 'No sessions yet in /data/workrail.\n',
      talk: 'Next: claude mcp add workrail -- workrail serve\n',
      calls: ['store'],
    });
  });

  it('session verify reports healthy sessions in one line and suggests what to do next', async () => {
    enforces('cli_last_line_suggests_next', 'cli_stdout_data_stderr_talk');
    expect(await verify([HEALTHY])).toEqual({
      exitCode: 0,
      out: '1 session checked in /data/workrail, all healthy: 53 events, 40.2 kB\n',
      talk: 'Next: workrail session list\n',
      calls: ['store'],
    });
  });

  it('session verify says that it checked the chain and no signatures', async () => {
    const { out } = await runFake({ argv: ['session', 'verify'], audits: [HEALTHY] });
    expect(out).toContain('\nChecked: the hash chain without signatures, so only accidents were checked. ');
  });

  it('session verify lists every session with --verbose, and a session that is named', async () => {
    const line = `✓ ${SESSION}  healthy: 53 events, 40.2 kB\n    not signed: only accidents were checked\n`;
    expect((await verify([HEALTHY], '--verbose')).out).toMatch(new RegExp(`^${line}1 session checked`));
    expect((await verify([HEALTHY], SESSION)).out).toMatch(new RegExp(`^${line}1 session checked`));
  });

  it('session verify --quiet prints nothing but data', async () => {
    expect(await verify([HEALTHY], '--quiet')).toMatchObject({ exitCode: 0, talk: '' });
  });

  it('session verify shows a note without calling the session damaged', async () => {
    const { exitCode, out } = await verify([NOTED]);
    expect(exitCode).toBe(0);
    expect(out).toBe(
      `✓ ${SESSION}  healthy: 53 events, 40.2 kB\n` +
        '    note  sessions/x/events/9.jsonl is not in the manifest, so it is ignored and later removed\n' +
        '1 session checked in /data/workrail, all healthy: 53 events, 40.2 kB\n',
    );
  });

  it('session verify locates damage, reports each fact once, and exits with code 4', async () => {
    const { exitCode, out, talk } = await verify([HEALTHY, DAMAGED]);
    expect(exitCode).toBe(4);
    expect(out).toBe(
      `✗ ${OTHER_SESSION}  damaged after 4 events, 900 B\n` +
        '    damage  sessions/y/events/4.jsonl has changed since it was written\n' +
        '    damage  sessions/y/manifest.jsonl at byte 812 has a record that was changed, moved or duplicated\n' +
        '2 sessions checked in /data/workrail, 1 damaged: 57 events, 41.1 kB\n',
    );
    expect(talk).toBe(
      'STORE_CORRUPT: 2 files are damaged or missing; 1 of 2 sessions needs them.\n' +
        'Fix: Restore the files named above in /data/workrail from a backup, then check again. Without a backup, "workrail session fork-from-valid ID" makes a new session from everything before the damage. Nothing was changed.\n' +
        `Next: workrail session verify --json ${OTHER_SESSION}\n`,
    );
    expect((await verify([HEALTHY, DAMAGED], SESSION)).exitCode).toBe(0);
    expect((await verify([HEALTHY, DAMAGED], 'nowhere')).exitCode).toBe(3);
    expect((await verify([HEALTHY, DAMAGED], '--port')).exitCode).toBe(2);
  });

  it('session verify distinguishes a session from a newer version from a damaged one', async () => {
    const { exitCode, out, talk } = await verify([HEALTHY, NEWER]);
    expect(exitCode).toBe(4);
    expect(out).toBe(
      `✗ ${OTHER_SESSION}  written by a newer workrail from the start, 10 B\n` +
        '    damage  sessions/y/manifest.jsonl at byte 3 has version 9, which this workrail cannot read\n' +
        '2 sessions checked in /data/workrail, 1 damaged: 53 events, 40.2 kB\n',
    );
    expect(talk).toMatch(
      /^STORE_UNKNOWN_VERSION: .*\nFix: Update workrail.*\nNext: install a newer WorkRail, then run this command again\n$/,
    );
    const orphan = { severity: 'note', what: 'orphan_segment', place: 'sessions/y/events/0.jsonl' } as const;
    const withMore = await verify([{ ...NEWER, findings: [...NEWER.findings, orphan] }]);
    expect(withMore.out).not.toContain('removed');
    expect((await verify([NEWER, { ...DAMAGED, sessionId: SESSION }])).talk).toMatch(/^STORE_CORRUPT/);
  });

  it('session verify distinguishes an unreadable session from a damaged one, and checks the others', async () => {
    const { exitCode, out, talk } = await verify([HIDDEN, HEALTHY]);
    expect(exitCode).toBe(4);
    expect(out).toBe(
      `✗ ${OTHER_SESSION}  cannot be read from the start, 0 B\n` +
        '    damage  sessions/y/manifest.jsonl cannot be read (EACCES)\n' +
        '2 sessions checked in /data/workrail, 1 damaged: 53 events, 40.2 kB\n',
    );
    expect(talk).toMatch(
      /^STORE_IO: 1 of 2 sessions cannot be read\.\nFix: The lines above say why\. In \/data\/workrail, make those files readable/,
    );
    expect(talk).toMatch(/\nNext: ls -ld \/data\/workrail\/sessions\/y\/manifest\.jsonl\n$/);
    expect((await verify([HIDDEN, { ...DAMAGED, sessionId: SESSION }])).talk).toMatch(/^STORE_CORRUPT/);
  });

  it('session verify says what in the list of approvers does not count', async () => {
    const problems = ['Line 3 does not count: the key is damaged.'];
    const known = { approvers: [], problems, places: ['list'], signer: () => expect.fail() };
    const approvers = { listIn: async () => ok(known) } as unknown as ApproverAccess;
    const argv = ['session', 'verify', '--approvers', 'list'];
    const answers = {} as AnswerAccess;
    const { out } = await runFake({ argv, audits: [DAMAGED], approvers, answers });
    expect(out).toContain(`! list: ${problems[0]}\n`);
    const asked = await runFake({ argv: [...argv, '--json'], audits: [DAMAGED], approvers, answers });
    expect(sessionVerifyShape.parse(JSON.parse(asked.out)).data?.notes).toEqual([`list: ${problems[0]}`]);
  });

  it('session verify --four-eyes says that the signature of a second person is missing', () => {
    const gate = {
      runId: RUN,
      stepId: stepIdSchema.parse('ship'),
      title: 'Ship',
      signers: [{ name: 'ana', fingerprint: fingerprintSchema.parse(`SHA256:${'a'.repeat(43)}`) }],
      problem: 'too_few' as const,
    };
    const found = approvalProblem([gate])?.error;
    expect(found?.message).toContain('has the signature of one person, and --four-eyes needs two');
    expect(found?.suggestion).toContain('second approver');
    expect(JSON.stringify(gateLines([gate]))).toContain("a second person's signature is missing");
    expect(approvalProblem([{ ...gate, problem: 'not_signed' }])?.error.message).toContain('without one of this list');
  });

  it('session verify refuses an empty id', async () => {
    for (const asked of ['', '  ']) {
      const { exitCode, talk, calls } = await verify([HEALTHY], asked);
      expect([exitCode, calls]).toEqual([2, []]);
      expect(talk).toMatch(/^VALIDATION_ERROR: A session id is empty/);
    }
  });

  it('session verify prints its published shape, with ok only if all sessions are healthy', async () => {
    enforces('cli_json_error_shape');
    for (const audits of [[], [HEALTHY], [NOTED], [HEALTHY, DAMAGED], [NEWER], [HEALTHY, HIDDEN], [WITHOUT_CONTENT]]) {
      const { exitCode, out, talk } = await verify(audits, '--json');
      const document = sessionVerifyShape.parse(JSON.parse(out));
      expect(document).toEqual(JSON.parse(out));
      expect(document).toMatchObject({
        v: 1,
        command: 'session verify',
        data: { dataDir: '/data/workrail', sessions: audits },
      });
      expect([document.ok, talk]).toEqual([exitCode === 0, '']);
    }
    expect(JSON.parse((await verify([HEALTHY, DAMAGED], '--json')).out)).toMatchObject({
      ok: false,
      error: {
        code: 'STORE_CORRUPT',
        details: { sessionIds: [OTHER_SESSION] },
        fix: expect.stringContaining('backup'),
      },
      data: { totals: { sessions: 2, damaged: 1, events: 57, bytes: 41_110 } },
    });
  });

  it('session verify accepts the beginning or end of an id or a run tag, checks each session once, and suggests what was meant', async () => {
    enforces('cli_ids_forgiving');
    const checked = async (...asked: string[]) => {
      const document = JSON.parse(
        (await verify([HEALTHY, { ...HEALTHY, sessionId: OTHER_SESSION }], '--json', ...asked)).out,
      );
      return document.data.sessions.map(({ sessionId }: SessionAudit) => sessionId);
    };
    expect(await checked('sess_01')).toEqual([SESSION]);
    expect(await checked('3210')).toEqual([OTHER_SESSION]);
    expect(await checked(runTag(RUN), '0123')).toEqual([SESSION]);

    const unknown = await verify([HEALTHY], 'sess_0123456789abcdee');
    expect(unknown).toMatchObject({ exitCode: 3, out: '' });
    expect(unknown.talk).toBe(
      `SESSION_NOT_FOUND: No session in /data/workrail matches "sess_0123456789abcdee".\nFix: Did you mean ${SESSION}?\n`,
    );
    expect((await verify([HEALTHY, DAMAGED], 'sess_')).talk).toMatch(/matches 2 sessions.*\nFix: Type more/);
    expect((await runFake({ argv: ['sesion', 'verify'] })).talk).toContain('Did you mean session?');
  });

  it('escape sequences in a session id are printed, not executed', async () => {
    const { talk } = await verify([HEALTHY], '\u001b[31m');
    expect(talk).toContain('No session in /data/workrail matches "\\u001b[31m"');
  });

  describe('while it takes long', () => {
    afterEach(() => vi.useRealTimers());

    const slowly = (argv: readonly string[], terminals: readonly 'error'[]) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearTimeout'] });
      const audits = [HEALTHY, { ...HEALTHY, sessionId: OTHER_SESSION }];
      const onAudit = () => vi.advanceTimersByTime(310);
      return runFake({ argv: ['session', 'verify', ...argv], audits, terminals, onAudit, env: { NO_COLOR: '1' } });
    };

    it('session verify shows progress: a bar in a terminal, a line elsewhere, nothing with --quiet', async () => {
      enforces('cli_progress');
      const { out, talk } = await slowly([], ['error']);
      const [before, first, ...later] = talk.split('\r\u001b[K');
      expect([before, first]).toEqual(['', `${'░'.repeat(24)} 0/2 checking sessions`]);
      expect(later).toContain(`${'█'.repeat(12)}${'░'.repeat(12)} 1/2 checking sessions`);
      expect(later.at(-1)).toBe('Next: workrail session list\n');
      expect(out).toMatch(/^2 sessions checked in \/data\/workrail, all healthy: 106 events, 80\.4 kB\n/);
      expect((await slowly([], [])).talk).toMatch(/^checking sessions: 0 of 2\nNext: .*\n$/);
      expect((await slowly(['--quiet'], ['error'])).talk).toBe('');
    });

    it('session verify shows progress while it looks for a named run', async () => {
      enforces('cli_progress');
      vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearTimeout'] });
      const audits = [HEALTHY, { ...HEALTHY, sessionId: OTHER_SESSION }];
      const onLoad = () => vi.advanceTimersByTime(310);
      const { talk } = await runFake({ argv: ['session', 'verify', runTag(RUN)], audits, onLoad });
      expect(talk).toMatch(/^looking for sessions: 0 of 2\n/);
    });

    it('session verify reads no other session if the id is enough', async () => {
      let loads = 0;
      const onLoad = () => {
        loads += 1;
      };
      await runFake({ argv: ['session', 'verify', '0123'], audits: [HEALTHY, DAMAGED], onLoad });
      expect(loads).toBe(0);
    });

    it('session verify shows progress on standard error under --json, never in the document', async () => {
      const { out, talk } = await slowly(['--json'], []);
      expect(talk).toBe('checking sessions: 0 of 2\n');
      expect(sessionVerifyShape.parse(JSON.parse(out)).ok).toBe(true);
    });
  });

  it('session verify --verbose explains why the store cannot be used', async () => {
    const listFails = { code: 'io_failed', operation: 'list sessions', place: 'sessions', cause: 'EACCES' } as const;
    const { exitCode, talk } = await runFake({ argv: ['session', 'verify'], listFails });
    expect(exitCode).toBe(1);
    expect(talk).toMatch(/^STORE_IO: The data directory \/data\/workrail cannot be used .*EACCES/);
    const verbose = await verify([HEALTHY], 'nowhere', '--verbose');
    expect(verbose.talk).toContain('{"asked":"nowhere","near":[]}');
  });
});
