import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandShape } from '../../src/cli/command-shape.ts';
import { demo } from '../../src/cli/demo.ts';
import { enforces } from '../enforces.ts';

const demoShape = commandShape('demo', demo.data);

const PROGRAM = join(process.cwd(), 'dist/workrail.js');
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'workrail-demo-test-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the demo', () => {
  // No home, no network settings: it needs nothing of the user's.
  const play = (...args: string[]) =>
    spawnSync(process.execPath, [PROGRAM, 'demo', ...args], { env: { TMPDIR: folder }, encoding: 'utf8' });

  it('the demo runs on a real server, shows the recorded session, and leaves no file', () => {
    enforces('demo_offline');
    const { status, stdout, stderr } = play('--speed', 'max');
    expect(status).toBe(0);
    for (const told of ['blocked: This step requires notes', 'has already continued from here', 'is complete'])
      expect(stderr).toContain(told);
    expect(stdout).toMatch(/wr\.first_steps {2}"Find one thing to improve" {3}complete {3}branch A ⑂ 1 other branch/);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('the demo prints a document under --json and keeps the session with --keep', () => {
    enforces('demo_offline', 'cli_json_everywhere');
    const { stdout } = play('--json', '--keep');
    const shown = demoShape.parse(JSON.parse(stdout));
    expect(shown).toMatchObject({ ok: true, data: { calls: 10, isRepeatEqual: true, dataDir: expect.any(String) } });
    expect(readdirSync(folder)).toHaveLength(1);
    expect(play('--keep').stderr).toMatch(/^Next: WORKRAIL_DATA_DIR=\S+ .*console$/m);
    expect(play('--speed', '9').status).toBe(2);
  });
});
