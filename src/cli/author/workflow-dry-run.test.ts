import { describe, expect, it } from 'vitest';
import { EXAMPLE } from '../../../test/bench/example-workflow.ts';
import { FILE, onBench } from '../../../test/bench/run-bench.ts';
import { runFake } from '../../../test/cli/fake-program.ts';

const SCRIPT = {
  steps: [
    { at: 'size', context: { taskSize: 'large' } },
    { at: 'merge', person: { value: 'no' } },
  ],
};

describe('workflow dry-run', () => {
  it('workflow dry-run follows a script and shows skipped steps, blocks and gaps', async () => {
    const alone = { mode: 'full_auto_never_stop', modeSetBy: 'person' };
    const { run, json } = onBench({ [FILE]: EXAMPLE, 'script.json': SCRIPT, 'alone.json': alone });
    const { out, exitCode } = await run('dry-run', 'team.example', '--script', 'alone.json');
    const { talk, out: waited } = await run('dry-run', 'team.example', '--mode', 'full_auto_never_stop');
    expect(waited).toContain('5 steps, 6 calls, 1 block');
    expect(talk).toContain('There is no terminal to ask in');
    expect((await run('dry-run', 'team.example', '--yes')).talk).not.toContain('There is no terminal');
    expect([
      exitCode,
      out
        .split('\n')
        .slice(-4)
        .join('\n')
        .replace(/[\d.]+ kB/, 'N kB'),
    ]).toEqual([
      0,
      [
        'skipped  design',
        'gap      user_only_dependency:needs_user_approval  No person decided: May I merge? The run went on because a person set never-stop for it.',
        '✓ complete  5 steps, 5 calls, 0 blocks, N kB read',
        '',
      ].join('\n'),
    ]);
    const scripted = await json('dry-run', 'team.example', '--script', 'script.json');
    expect(scripted.data).toMatchObject({ isComplete: true, skipped: [], unsent: [], path: { length: 6 } });
  });

  it('an outline names the checks of a step, and a rehearsal says that it took them to pass', async () => {
    const check = { id: 'tests', run: 'npm test', minimum: 'observed' };
    const verify = { id: 'verify', title: 'Verify', prompt: 'Run it.', checks: [check] };
    const { run } = onBench({ [FILE]: { ...EXAMPLE, steps: [verify], assessments: [], conditions: [] } });
    expect((await run('preview', 'team.example')).out).toContain('the check "tests" (npm test, observed)');
    expect((await run('dry-run', 'team.example', '--yes')).out).toMatch(
      /✓ verify {2}Verify {2}.*check tests \(assumed to pass\)/,
    );
  });

  it('a preview of a step in a loop says how to see the value of the loop', async () => {
    const body = [{ id: 'fix', title: 'Fix {{todo}}', prompt: 'Fix {{todo}}.' }];
    const each = { type: 'forEach', items: 'todos', itemVar: 'todo', maxIterations: 5 };
    const loop = { id: 'each', type: 'loop', title: 'Each', loop: each, body };
    const first = { id: 'list', title: 'List', prompt: 'List them.' };
    const { run } = onBench({ [FILE]: { ...EXAMPLE, steps: [first, loop], assessments: [], conditions: [] } });
    const hint = `todo is a value of the loop. To see it filled in, add --context '{"todos": ["…"]}'.`;
    expect((await run('preview', 'team.example', '--step', 'fix')).out).toContain(hint);
    const filled = await run('preview', 'team.example', '--step', 'fix', '--context', '{"todos":["a.js:1"]}');
    expect(filled.out).toContain('Fix "a.js:1"');
    expect(filled.out).not.toContain('value of the loop');
  });

  it('workflow dry-run fails if the script does not match the run', async () => {
    const { run } = onBench({ [FILE]: EXAMPLE, 'script.json': SCRIPT, 'bad.json': { step: [] } });
    const small = await run('dry-run', 'team.example', '--script', 'script.json', '--context', '{"taskSize":"small"}');
    expect(small.exitCode).toBe(0);
    const bad = await run('dry-run', 'team.example', '--script', 'bad.json');
    expect([bad.exitCode, bad.talk]).toEqual([
      2,
      expect.stringContaining('"step" is not known here. Did you mean "steps"?'),
    ]);
    expect((await run('dry-run', 'team.example', '--script', 'none.json')).exitCode).toBe(3);
    const misspelled = onBench({ [FILE]: EXAMPLE, 'typo.json': { steps: [{ at: 'desgin', notes: 'Done.' }] } });
    const typo = await misspelled.run('dry-run', 'team.example', '--script', 'typo.json');
    expect([typo.exitCode, typo.talk]).toEqual([
      4,
      expect.stringContaining('Unknown step "desgin". Did you mean design?'),
    ]);
  });

  it('workflow dry-run asks the user what the agent sends, and offers the example first', async () => {
    const { author } = onBench({ [FILE]: EXAMPLE });
    const asked: string[] = [];
    const answers = ['nothing', 'context', 'example', 'stop'];
    const { out, talk, exitCode } = await runFake({
      argv: ['workflow', 'dry-run', 'team.example'],
      author,
      terminals: ['input', 'output', 'error'],
      env: { NO_COLOR: '1' },
      ask: {
        pick: async ({ choices }) => {
          asked.push(choices[0]?.hint ?? '');
          return answers.shift();
        },
        write: async ({ initial, check }) => {
          expect([initial, check?.('{')]).toEqual(['{}', 'This is not a JSON object.']);
          return '{"taskSize":"large"}';
        },
      },
    });
    expect([exitCode, asked]).toEqual([0, ['notes, wr.findings', 'wr.findings', 'notes', 'notes']]);
    expect(talk).toContain('── 1/? size ▲ blocked\n');
    expect(out).toContain('✓ design  Design it  notes\n');
    expect(out).toContain('stopped at "work"\n');

    const terminals = ['input', 'output', 'error'] as const;
    const argv = ['workflow', 'dry-run', 'team.example'];
    const brokenOff = await runFake({ argv, author, terminals, ask: { pick: async () => undefined } });
    expect(brokenOff.exitCode).toBe(130);
    expect((await runFake({ argv, author, terminals: ['input'], ask: {} })).talk).not.toContain('── 1/6');
  });
});
