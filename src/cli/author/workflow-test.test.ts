import { describe, expect, it } from 'vitest';
import { EXAMPLE, EXAMPLE_SCENARIOS } from '../../../test/bench/example-workflow.ts';
import { FILE, onBench, SCENARIOS } from '../../../test/bench/run-bench.ts';
import { enforces } from '../../../test/enforces.ts';

type Change = Partial<(typeof EXAMPLE_SCENARIOS.scenarios)[0]['expect']> & { readonly gaps?: readonly object[] };

const withScenario = (scenario: object) =>
  onBench({ [FILE]: EXAMPLE, [SCENARIOS]: { workflowId: 'team.example', scenarios: [scenario] } });
const failuresOf = async (scenario: object) => {
  const { data } = await withScenario(scenario).json('test', 'team.example');
  return (data as { files: { scenarios: { failures: string[] }[] }[] }).files[0]?.scenarios[0]?.failures;
};
const expecting = (expect: Change, more: object = {}) =>
  failuresOf({ name: 'it', context: { taskSize: 'small' }, ...more, expect });

describe('workflow test', () => {
  it('scenarios pass with a careful agent and with one that loses replies, and report coverage', async () => {
    const { out, exitCode, talk } = await onBench({ [FILE]: EXAMPLE, [SCENARIOS]: EXAMPLE_SCENARIOS }).run('test');
    expect(exitCode).toBe(0);
    expect(out.replaceAll(/[\d.]+ kB/g, 'N kB')).toBe(
      [
        'team.example  4 scenarios passed  .workrail/workflows/team.example.test.json',
        '  covered: steps 6/6, condition outcomes 6/6',
        'Tested the workflows of this project (.workrail/workflows). Add --all to include every workflow.',
        '4 scenarios in 1 file, each also with an agent that loses replies: 4 passed',
        '',
      ].join('\n'),
    );
    expect(talk).toBe('Next: workrail workflow check --strict\n');
    const full = await onBench({ [FILE]: EXAMPLE, [SCENARIOS]: EXAMPLE_SCENARIOS }).run('test', '--verbose');
    expect(full.out.replaceAll(/[\d.]+ kB/g, 'N kB')).toContain(
      [
        'team.example  .workrail/workflows/team.example.test.json',
        '  ✓ a small task in two rounds  guided, 7 steps, N kB read',
      ].join('\n'),
    );
  });

  it('below the wanted coverage, the advice is to add scenarios, and the next command keeps what was asked', async () => {
    const [first] = EXAMPLE_SCENARIOS.scenarios;
    const scenarios = { workflowId: 'team.example', scenarios: [first] };
    const bench = onBench({ [FILE]: EXAMPLE, [SCENARIOS]: scenarios });
    const { exitCode, talk } = await bench.run('test', 'team.example', '--min-coverage', '100');
    expect(exitCode).toBe(4);
    expect(talk).toContain('Fix: Add a scenario for each line above that says "never".\n');
    expect(talk).toContain('Next: workrail workflow test team.example --min-coverage 100 --verbose\n');
  });

  it('a failed scenario says what happened instead', async () => {
    const skipped = 'the path was size, work, rounds--decide, judge, merge';
    expect(await expecting({ path: ['size', 'design'] })).toEqual([
      `the path differs at place 2: expected "design", but "work" was pending; ${skipped}`,
    ]);
    expect(await expecting({ blocks: 2, complete: false })).toEqual([
      'blocks: expected 2, got 1: at merge',
      'the run is complete',
    ]);
    expect(await expecting({ skipped: ['work'], complete: true })).toEqual(['"work" was not skipped; skipped: design']);
    expect(
      await expecting(
        { complete: true, gaps: [{ category: 'contract_violation' }] },
        { mode: 'full_auto_never_stop', modeSetBy: 'person' },
      ),
    ).toEqual(['missing open gap contract_violation', 'unexpected gap user_only_dependency:needs_user_approval']);
  });

  it('a scenario says what a person answers at a gate', async () => {
    const gate = { id: 'ship', title: 'Ship', prompt: 'Ship it.', requireConfirmation: { kind: 'human_approval' } };
    const file = { ...EXAMPLE, steps: [gate], assessments: [], conditions: [] };
    const outcome = async (person: unknown, complete: boolean) => {
      const scenario = { name: 'it', steps: [{ at: 'ship', ...(person === undefined ? {} : { person }) }] };
      const scenarios = [{ ...scenario, expect: { complete } }];
      const bench = onBench({ [FILE]: file, [SCENARIOS]: { workflowId: 'team.example', scenarios } });
      return (await bench.run('test', 'team.example')).exitCode;
    };
    expect(await Promise.all([outcome(undefined, true), outcome('approve', true)])).toEqual([0, 0]);
    // The person approves the next draft, so a rejection alone costs one more block.
    const rejected = { name: 'it', steps: [{ at: 'ship', person: 'reject' }], expect: { complete: true, blocks: 2 } };
    const scenarios = { workflowId: 'team.example', scenarios: [rejected] };
    expect((await onBench({ [FILE]: file, [SCENARIOS]: scenarios }).run('test', 'team.example')).exitCode).toBe(0);
  });

  it('a scenario says who set the mode: never-stop opens a gate only if a person set it', async () => {
    enforces('never_stop_never_blocks');
    const gate = { id: 'ship', title: 'Ship', prompt: 'Ship it.', requireConfirmation: { kind: 'human_approval' } };
    const file = { ...EXAMPLE, steps: [gate], assessments: [], conditions: [] };
    const gaps = [{ category: 'user_only_dependency', detail: 'needs_user_approval' }];
    const scenarios = [
      { name: 'a person', modeSetBy: 'person', expect: { complete: true, blocks: 0, gaps } },
      { name: 'the agent', modeSetBy: 'agent', expect: { complete: true, blocks: 1, gaps: [] } },
      { name: 'nobody', expect: { complete: true, blocks: 1, gaps: [] } },
    ].map((one) => ({ ...one, mode: 'full_auto_never_stop' }));
    const bench = onBench({ [FILE]: file, [SCENARIOS]: { workflowId: 'team.example', scenarios } });
    expect((await bench.run('test', 'team.example')).out).toContain('3 passed');
  });

  it('a scenario fails if a step is blocked, done or never reached against its expectation', async () => {
    const steps = (...sent: readonly object[]) => expecting({ complete: true }, { steps: sent });
    const believed = { artifacts: [{ kind: 'wr.assessment', dimensions: { evidence: 'believed' } }] };
    expect(await steps({ at: 'judge', ...believed })).toEqual([
      '"judge" is blocked: INVALID_REQUIRED_OUTPUT: Look it up.',
    ]);
    const shown = { notes: 'n', artifacts: [{ kind: 'wr.assessment', dimensions: { evidence: 'shown' } }] };
    expect(await steps({ at: 'judge', ...shown, expect: 'blocked' })).toEqual([
      '"judge" should be blocked, but was accepted',
    ]);
    expect(await steps({ at: 'design', notes: 'never due' })).toEqual([
      '"design" is listed under "steps", but was not the pending step at its turn',
    ]);
  });

  it('invalid scenarios are reported with their lines, all at once', async () => {
    const scenario = { nmae: 'x', name: '', mode: 'guidet', steps: [{ at: 'desgin' }], expect: {} };
    const first = await withScenario(scenario).run('test', 'team.example');
    expect([first.exitCode, first.out.split('\n').slice(1, 5)]).toEqual([
      4,
      [
        expect.stringContaining('test.json:6:15  It must not be empty.'),
        expect.stringContaining('test.json:7:15  It must be "guided", "full_auto'),
        expect.stringContaining('test.json:13:17  At least "path" or "complete" is to be expected.'),
        expect.stringContaining('test.json:5:7  "nmae" is not known here. Did you mean "name"?'),
      ],
    ]);
    const { out } = await withScenario({ name: 'x', steps: [{ at: 'desgin' }], expect: { complete: true } }).run(
      'test',
    );
    expect(out).toContain('test.json:8:17  Unknown step "desgin". Did you mean "design"?');
  });

  it('workflow test --min-coverage fails below the coverage', async () => {
    enforces('cli_exit_codes');
    const author = withScenario({ name: 'small', context: { taskSize: 'small' }, expect: { complete: true } });
    expect((await author.run('test', '--min-coverage', '80,30')).exitCode).toBe(0);
    const { exitCode, out, talk } = await author.run('test', '--min-coverage', '100,90');
    expect([exitCode, talk.split('\n')[0]]).toEqual([
      4,
      'WORKFLOW_INVALID: 1 workflow below 100 % of steps or 90 % of condition outcomes.',
    ]);
    expect(out).toContain('    step never reached: design\n');
    expect(out).toContain('    never true: run condition of step design (is-large is true)\n');
    expect((await author.run('test', '--min-coverage', 'all')).exitCode).toBe(2);
    expect((await author.run('test', 'team.exmple')).talk).toContain('Did you mean team.example?');
  });

  it('workflow test names workflows without test scenarios', async () => {
    const { exitCode, talk } = await onBench({ [FILE]: EXAMPLE }).run('test', 'team.example');
    expect([exitCode, talk]).toEqual([3, expect.stringContaining('team.example.test.json does not exist')]);
    const other = { ...EXAMPLE, id: 'team.other' };
    const author = onBench({
      [FILE]: EXAMPLE,
      [SCENARIOS]: { ...EXAMPLE_SCENARIOS, scenarios: EXAMPLE_SCENARIOS.scenarios.slice(-1) },
      '.workrail/workflows/team.other.json': other,
      '/bundle/wr.hello.json': { ...EXAMPLE, id: 'wr.hello' },
    });
    expect((await author.json('test')).data).toMatchObject({ untested: ['team.other'] });
    expect((await author.json('test', '--all')).data).toMatchObject({ untested: ['team.other', 'wr.hello'] });
    const plain = await author.run('test');
    expect([plain.exitCode, plain.out]).toEqual([0, expect.stringContaining('No test scenarios: team.other\n')]);
    const strict = await author.run('test', '--min-coverage', '1');
    expect([strict.exitCode, strict.talk.split('\n')[0]]).toEqual([
      4,
      'WORKFLOW_INVALID: 1 workflow without test scenarios.',
    ]);
  });
});
