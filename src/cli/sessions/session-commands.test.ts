import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runFake } from '../../../test/cli/fake-program.ts';
import { forked, forkedWorld } from '../../../test/cli/forked-session.ts';
import { lookedAtWorld } from '../../../test/cli/looked-at.ts';
import { enforces } from '../../../test/enforces.ts';
import { sessionOf } from '../../../test/examples/shared-session.ts';
import { freshStore } from '../../../test/fresh-store.ts';
import { commandShapes } from '../command-shape.ts';

const COMMAND_SHAPES = await commandShapes();

describe('the content of a session', () => {
  const HOSTILE = '\u001b[31mred\u001b]0;title\u0007 \u202eevil\u2028\r\nsecond\u0000';

  it('escape sequences in a session are printed, not executed, on lines that fit', async () => {
    enforces('cli_escapes_not_raw');
    const { start, send, look } = lookedAtWorld();
    const first = await start('test.plain', { goal: HOSTILE + 'x'.repeat(700) });
    await send(first, { notes: `${HOSTILE}${'y'.repeat(60_000)}`, artifacts: [{ kind: HOSTILE, text: HOSTILE }] });
    for (const argv of [
      ['session', 'list'],
      ['session', 'show'],
      ['session', 'tree'],
      ['status'],
      ['search', 'evil'],
    ]) {
      const { out } = await look(argv);
      expect(out).not.toMatch(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}](?<!\n)/u);
      expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    }
    for (const argv of [
      ['session', 'notes'],
      ['session', 'resume'],
      ['session', 'diff', sessionOf(first), '1', '2'],
    ]) {
      expect((await look(argv)).out).not.toMatch(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}](?<!\n)/u);
    }
  });

  it('a damaged session is shown up to the damage and is never continued', async () => {
    const { store, another, files, root } = freshStore();
    const world = lookedAtWorld({ store });
    const { sessionId } = await forked(world);
    const segments = files().filter((name) => name.includes(`${sessionId}/events/`));
    appendFileSync(join(root, segments.at(-2) ?? ''), 'x');
    const sessionAccess = world.sessionAccess({ ...another(), columns: () => 200 });
    const look = (...argv: string[]) => runFake({ argv, sessionAccess });
    const banner = /^✗ damaged \(segment_digest_mismatch in sessions\/.*\); only the first \d+ events are shown\n/;
    for (const argv of [['show'], ['tree'], ['notes'], ['diff', sessionId, 'A', 'main']]) {
      const { exitCode, out, talk } = await look('session', ...argv);
      expect([exitCode, argv]).toEqual([0, argv]);
      expect(out).toMatch(banner);
      expect(talk).toContain('Next: ');
    }
    expect((await look('session', 'tree')).out).toContain('3 ✓  4 ✓  5 ▲');
    expect((await look('search', 'cart')).out).toMatch(/^✗ .* damaged /);
    expect((await look('status')).out).toMatch(/Not listed, in all folders: 1 damaged session\.\n$/);
    expect(await look('session', 'resume')).toMatchObject({ exitCode: 1, out: '' });
    const codeOf = async (seen: typeof sessionAccess, ...argv: string[]) =>
      JSON.parse((await runFake({ argv: [...argv, '--json'], sessionAccess: seen })).out).error.code;
    expect(await codeOf(sessionAccess, 'session', 'notes', sessionId, '--step', '99')).toBe('VALIDATION_ERROR');
    expect((await look('search', 'cart', '--json')).out).toContain(
      '"unreadable":{"sessions":0,"ends":1,"artifacts":0}',
    );
    for (const segment of segments) rmSync(join(root, segment));
    const emptied = world.sessionAccess(another());
    for (const at of [[], ['--at', '1']]) {
      expect(await codeOf(emptied, 'session', 'resume', sessionId, ...at)).toBe('STORE_CORRUPT');
    }
    expect((await runFake({ argv: ['search', 'cart'], sessionAccess: emptied })).out).toMatch(
      /of 0 sessions; 1 session cannot be read\.\n$/,
    );
    const shown = await runFake({ argv: ['session', 'tree'], sessionAccess: emptied });
    expect([shown.exitCode, shown.out.replaceAll('\n', ' ')]).toEqual([
      0,
      expect.stringContaining('nothing can be read'),
    ]);
    const listed = await runFake({ argv: ['session', 'show', '--json'], sessionAccess: emptied });
    expect(JSON.parse(listed.out)).toMatchObject({ ok: true, data: { state: 'damaged', runs: [], events: 0 } });
  });

  it('session commands print their published shapes under --json', async () => {
    enforces('cli_json_everywhere');
    const { look, sessionId, save, tip } = await forkedWorld();
    await save(tip, 'On the way.', [{ kind: 'note', text: 'kept' }]);
    const commands = [
      ['session list'],
      ['session show'],
      ['session tree'],
      ['session notes'],
      ['session diff', sessionId, 'A', 'main'],
      ['session resume'],
      ['session resume', sessionId, '--at', '2'],
      ['search', 'cart'],
      ['status'],
      ['session tree', 'nowhere'],
    ];
    for (const [name = '', ...args] of commands) {
      const { out, talk } = await look([...name.split(' '), ...args, '--json']);
      expect(COMMAND_SHAPES[name]?.safeParse(JSON.parse(out)).error).toBeUndefined();
      expect(talk).toBe('');
    }
  });
});
