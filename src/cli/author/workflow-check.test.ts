import { describe, expect, it } from 'vitest';
import { EXAMPLE } from '../../../test/bench/example-workflow.ts';
import { FILE, onBench, SCENARIOS } from '../../../test/bench/run-bench.ts';
import { enforces } from '../../../test/enforces.ts';

const BROKEN = `{
  "id": "team.example",
  "name":   "Example",
  "descripton": "Two mistakes and a matter of taste.",
  "about": "A.", "examples": ["Something to look at"],
  "steps": [
    { "id": "do", "title": "Do it", "prompt": "Do it if needed.",
      "outputContract": { "contractRef": "wr.contracts.finding" } }
  ]
}
`;

/** Allowed outside a loop in a routine only: its caller may stand in one. */
const LOOP_CONTROL = 'wr.contracts.loop_control';

describe('workflow check', () => {
  it('workflow check reports every finding with its line and what to do about it', async () => {
    const { out, talk, exitCode } = await onBench({ [FILE]: BROKEN }).run('check', 'team.example');
    expect(exitCode).toBe(4);
    expect(out.split('\n').filter((line) => line.includes('team.example.json'))).toEqual([
      `${FILE}:1:1  error  missing_field`,
      `${FILE}:4:3  warning  unknown_key`,
      `${FILE}:7:54  warning  vague_opt_out`,
      `${FILE}:8:42  error  unknown_contract`,
    ]);
    expect(out).toContain(
      [
        '    7 │     { "id": "do", "title": "Do it", "prompt": "Do it if needed.",',
        '  ▸ 8 │       "outputContract": { "contractRef": "wr.contracts.finding" } }',
        '      │                                          ^^^^^^^^^^^^^^^^^^^^^^',
        '  --fix: Replace "wr.contracts.finding" with "wr.contracts.findings"',
      ].join('\n'),
    );
    expect(out).toContain(
      [
        '1 file checked: 2 errors, 2 warnings; 2 can be fixed with --fix',
        'In files with errors, only the quality rules for texts were applied. The other rules run once the errors are fixed.\n',
      ].join('\n'),
    );
    expect(talk).toContain('Next: workrail workflow check team.example --fix\n');
  });

  it("workflow check reports a project's document that is not there, at its path", async () => {
    const document = (id: string, source: string) => ({ id, title: 'Style', source, purpose: 'How we write.' });
    const file = { ...EXAMPLE, references: [document('a', 'docs/a.md'), document('b', 'docs/missing.md')] };
    const { out } = await onBench({ [FILE]: JSON.stringify(file, null, 2) }).run('check', 'team.example');
    expect(out).toMatch(/:\d+:\d+ {2}warning {2}reference_missing/);
    expect(out).toContain('The document "Style" was not found at docs/missing.md. Correct the path, or add the file.');
    expect(out.match(/reference_missing/g)).toHaveLength(1);
  });

  it('workflow check --fix changes only what can be fixed automatically', async () => {
    const { run, text } = onBench({ [FILE]: BROKEN });
    const { out, exitCode } = await run('check', '--fix');
    expect([exitCode, text(FILE)]).toEqual([
      0,
      BROKEN.replace('descripton', 'description').replace('contracts.finding"', 'contracts.findings"'),
    ]);
    expect(out).toContain(`✎ ${FILE}: Rename "descripton" to "description"\n`);
    expect(out).toContain(`${FILE}:7:54  warning  vague_opt_out\n`);
    const strict = await run('check', '--strict');
    expect([strict.exitCode, strict.talk]).toEqual([
      4,
      expect.stringContaining('Next: workrail workflow check --strict --watch\n'),
    ]);
    const lenient = await run('check');
    expect([lenient.exitCode, lenient.talk]).toEqual([0, expect.stringContaining('Next: workrail workflow test\n')]);
  });

  it('workflow check --json contains the same findings as the text', async () => {
    enforces('cli_json_everywhere');
    const { json } = onBench({ [FILE]: BROKEN });
    const { data, ok, exitCode } = await json('check', FILE);
    expect([ok, exitCode]).toEqual([false, 4]);
    expect(data).toMatchObject({
      scope: { kind: 'named' },
      totals: { files: 1, errors: 2, warnings: 2, mendable: 2 },
      files: [
        {
          path: `/repo/${FILE}`,
          findings: [
            { line: 1 },
            { code: 'unknown_key' },
            { code: 'vague_opt_out' },
            { pointer: '/steps/0/outputContract/contractRef' },
          ],
        },
      ],
    });
    const found = await json('check', '--fix');
    expect(found.data).toMatchObject({ files: [{ findings: [{ docs: 'docs/reference/lint.md#vague_opt_out' }] }] });
  });

  it('workflow check accepts files, folders and test scenarios', async () => {
    const { run } = onBench({
      'drafts/other.json': { ...EXAMPLE, id: 'team.other', name: '' },
      [FILE]: EXAMPLE,
      [SCENARIOS]: { workflowId: 'team.example' },
    });
    expect((await run('check', 'drafts')).out).toContain('drafts/other.json:3:11  error  text_empty\n');
    expect((await run('check', FILE)).out).toBe('✓ 1 file checked: 0 errors, 0 warnings\n');
    expect((await run('check', SCENARIOS)).out).toContain(`${SCENARIOS}:1:1  error  scenario_invalid\n`);
    expect((await run('check', 'nowhere')).exitCode).toBe(3);
    expect((await run('check', '--watch', '--json')).exitCode).toBe(2);
  });

  it('workflow check covers the project, or your own workflows without a project, or everything with --all', async () => {
    const bundled = { '/bundle/wr.hello.json': { ...EXAMPLE, id: 'wr.hello' } };
    const mine = { '/home/.workrail/workflows/me.hello.json': { ...EXAMPLE, id: 'me.hello' } };
    const checked = async (files: object, ...words: readonly string[]) => {
      const { data } = await onBench({ ...bundled, ...files }).json('check', ...words);
      const { scope, files: seen } = data as { scope: object; files: { path: string }[] };
      return [scope, seen.map(({ path }) => path)];
    };
    expect(await checked({ ...mine, [FILE]: EXAMPLE, 'workflows/team.old.json': '{}' })).toEqual([
      { kind: 'project', folders: ['/repo/.workrail/workflows', '/repo/workflows'] },
      [`/repo/${FILE}`, '/repo/workflows/team.old.json'],
    ]);
    expect(await checked(mine)).toEqual([
      { kind: 'user', folders: ['/home/.workrail/workflows'] },
      ['/home/.workrail/workflows/me.hello.json'],
    ]);
    expect(await checked({ ...mine, [FILE]: EXAMPLE }, '--all')).toEqual([
      { kind: 'all' },
      ['/bundle/wr.hello.json', '/home/.workrail/workflows/me.hello.json', `/repo/${FILE}`],
    ]);
    const { out } = await onBench({ ...bundled, [FILE]: EXAMPLE }).run('check');
    expect(out.split('\n')[0]).toBe(
      'Checked the workflows of this project (.workrail/workflows). Add --all to include every workflow.',
    );
    const { exitCode, talk } = await onBench(bundled).run('check');
    expect([exitCode, talk]).toEqual([3, expect.stringContaining('You have no workflows of your own: /repo')]);
  });

  it('a source that nobody accepted is shown as waiting, and is not an error of workflow check --all', async () => {
    enforces('project_sources_need_a_person');
    const bench = onBench({ [FILE]: EXAMPLE });
    const reason = {
      code: 'not_accepted',
      source: 'flows',
      url: 'https://example.org/f',
      commit: 'a'.repeat(40),
    } as const;
    const path = '/repo/.workrail/sources.json';
    const waiting = { kind: 'remote', rank: 1.5, ref: 'flows/', path, isInRoutines: false } as const;
    const { files } = bench.author.source;
    bench.author.source.files = async (...how) => {
      const found = await files(...how);
      return { ...found, files: [...found.files, { ...waiting, content: { kind: 'unread', reason } }] };
    };
    const line = '• The source flows waits until you accept it: workrail source accept\n';
    const checked = await bench.run('check', '--all');
    expect([checked.exitCode, checked.out]).toEqual([0, expect.stringContaining(line)]);
    expect(checked.out).toContain('✓ 1 file checked: 0 errors, 0 warnings');
    const { data } = await bench.json('check', '--all', '--strict');
    expect(data).toMatchObject({ waiting: ['flows'], totals: { errors: 0 } });
    // A search for words cannot find it, and it may have them.
    for (const words of [[], ['release']]) {
      const { exitCode, out } = await bench.run('list', ...words);
      expect([exitCode, out]).toEqual([0, expect.stringContaining(line)]);
      expect(out).not.toMatch(/not used|invalid/);
    }
    expect((await bench.json('list')).data).toMatchObject({ invalid: [], waiting: ['flows'] });
  });

  it.each([
    ['routines/shop/flow.json', true],
    ['routines/workflows/flow.json', true],
    ['shop/routines/flow.json', false],
    ['workflows/routines/deep/flow.json', false],
  ])('workflow check treats %s as a workflow: %s', async (path, isWorkflow) => {
    const steps = [{ id: 'go', title: 'Go on', prompt: 'Decide.', outputContract: { contractRef: LOOP_CONTROL } }];
    const { out } = await onBench({ [path]: JSON.stringify({ ...EXAMPLE, id: 'team.flow', steps }) }).run(
      'check',
      path,
    );
    expect(out.includes('loop_control_misplaced')).toBe(isWorkflow);
  });

  it('workflow check --explain says that a finding of the format has no quality rule', async () => {
    const { exitCode, talk } = await onBench({}).run('check', '--explain', 'missing_field');
    expect([exitCode, talk]).toEqual([3, expect.stringContaining('"missing_field" is about the format of the file')]);
  });

  it('workflow check --explain explains a quality rule', async () => {
    const { run, json } = onBench({ [FILE]: { ...EXAMPLE, examples: undefined } });
    expect((await run('check')).out).toContain('  why: workrail workflow check --explain missing_examples\n');
    expect((await run('check', '--explain', 'missing_examples')).out.split('\n')[0]).toBe(
      'missing_examples  finds a workflow without "examples", or with the one that "workflow new" writes.',
    );
    expect((await json('check', '--explain', 'missing_examples')).data).toMatchObject({
      rule: { code: 'missing_examples' },
    });
    const wrong = await run('check', '--explain', 'mising_examples');
    expect([wrong.exitCode, wrong.talk]).toEqual([3, expect.stringContaining('Did you mean missing_examples?')]);
  });
});
