import { describe, expect, it } from 'vitest';
import { EXAMPLE } from '../../../../../test/bench/example-workflow.ts';
import { FILE, onBench, SCENARIOS } from '../../../../../test/bench/run-bench.ts';
import { enforces } from '../../../../../test/enforces.ts';

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

describe('a check', () => {
  it('tells everything at once, each with its line and what to do about it', async () => {
    const { out, talk, exitCode } = await onBench({ [FILE]: BROKEN }).run('check', 'team.example');
    expect(exitCode).toBe(4);
    expect(out.split('\n').filter((line) => line.includes('team.example.json'))).toEqual([
      `${FILE}:1:1  error  missing_field`,
      `${FILE}:4:3  warning  unknown_key`,
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
    expect(out).toContain('1 file checked: 2 errors, 1 warning; 2 can be mended with --fix\n');
    expect(talk).toContain('Next: workrail workflow check team.example --fix\n');
  });

  it('mends what can be mended and leaves every other character alone', async () => {
    const { run, text } = onBench({ [FILE]: BROKEN });
    const { out, exitCode } = await run('check', '--fix');
    expect([exitCode, text(FILE)]).toEqual([
      0,
      BROKEN.replace('descripton', 'description').replace('contracts.finding"', 'contracts.findings"'),
    ]);
    expect(out).toContain(`✎ ${FILE}: Rename "descripton" to "description"\n`);
    expect(out).toContain(`${FILE}:7:54  warning  vague_opt_out\n`);
    expect((await run('check', '--strict')).exitCode).toBe(4);
    expect((await run('check')).exitCode).toBe(0);
  });

  it('gives the same as data', async () => {
    enforces('cli_json_everywhere');
    const { json } = onBench({ [FILE]: BROKEN });
    const { data, ok, exitCode } = await json('check', FILE);
    expect([ok, exitCode]).toEqual([false, 4]);
    expect(data).toMatchObject({
      totals: { files: 1, errors: 2, warnings: 1, mendable: 2 },
      files: [
        {
          path: `/repo/${FILE}`,
          findings: [{ line: 1 }, { code: 'unknown_key' }, { pointer: '/steps/0/outputContract/contractRef' }],
        },
      ],
    });
    const found = await json('check', '--fix');
    expect(found.data).toMatchObject({ files: [{ findings: [{ docs: 'docs/reference/lint.md#vague_opt_out' }] }] });
  });

  it('looks at files anywhere, at folders, and at scenarios', async () => {
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
});
