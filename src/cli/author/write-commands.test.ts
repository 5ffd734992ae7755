import { describe, expect, it } from 'vitest';
import { EXAMPLE, EXAMPLE_SCENARIOS } from '../../../test/bench/example-workflow.ts';
import { FILE, onBench, SCENARIOS } from '../../../test/bench/run-bench.ts';
import { runFake } from '../../../test/cli/fake-program.ts';
import { enforces } from '../../../test/enforces.ts';
import { STARTERS } from '../../app/author/starters.ts';
import { UNWRITTEN } from '../../core/workflow/lint/text-rules.ts';

const BUNDLED = '/bundle/wr.example.json';
const bundled = () =>
  onBench({
    [BUNDLED]: { ...EXAMPLE, id: 'wr.example' },
    '/bundle/wr.example.test.json': { ...EXAMPLE_SCENARIOS, workflowId: 'wr.example' },
  });

describe('workflow new', () => {
  it('workflow new refuses an id without a namespace, a reserved id and an id in use', async () => {
    enforces('legacy_id_not_creatable');
    const { run, disk } = bundled();
    const before = [...disk.keys()];
    const ids = ['my-review', 'wr.review', 'Team.Review', 'team.'];
    const refused = await Promise.all(ids.flatMap((id) => [run('new', id), run('copy', 'wr.example', id)]));
    expect(refused.map(({ exitCode }) => exitCode)).toEqual(ids.flatMap(() => [2, 2]));
    expect(refused[0]?.talk).toContain('Add a namespace, for example team.my-review');
    expect((await onBench({ [FILE]: EXAMPLE }).run('migrate-id', 'team.example', 'review')).exitCode).toBe(2);
    expect((await onBench({ [FILE]: EXAMPLE }).run('new', 'team.example')).exitCode).toBe(1);
    expect([...disk.keys()]).toEqual(before);
  });

  it.each(Object.keys(STARTERS))(
    'from the template %s is sound, and its scenarios reach all of it',
    async (template) => {
      const { run, json, disk } = onBench({});
      expect((await run('new', 'team.begun', '--template', template)).exitCode).toBe(0);
      // Only what the author has to write is missing.
      const fresh = await json('check', 'team.begun');
      const { files } = fresh.data as { files: { findings: { code: string; pointer: string }[] }[] };
      expect(files.flatMap(({ findings }) => findings.map(({ code, pointer }) => [code, pointer]))).toEqual([
        ['missing_about', '/about'],
        ['missing_examples', '/examples'],
      ]);
      expect((await run('check', 'team.begun', '--strict')).exitCode).toBe(4);
      const path = '/repo/.workrail/workflows/team.begun.json';
      const written = (disk.get(path) ?? '')
        .replace(UNWRITTEN.about, 'For tests.')
        .replace(UNWRITTEN.example, 'Test the whole thing');
      disk.set(path, written);
      expect((await run('check', 'team.begun', '--strict')).out).toBe('✓ 1 file checked: 0 errors, 0 warnings\n');
      expect((await run('test', '--min-coverage', '100')).exitCode).toBe(0);
      const { data } = await json('dry-run', 'team.begun', '--yes');
      expect(data).toMatchObject({ isComplete: true, blocks: 0, skipped: [] });
    },
  );

  it('workflow new asks for the id only in a terminal', async () => {
    enforces('cli_interaction_switches');
    expect((await onBench({}).run('new')).exitCode).toBe(2);
    const { author } = onBench({});
    const asked = (terminals: readonly ('input' | 'error')[]) =>
      runFake({ argv: ['workflow', 'new'], author, terminals, ask: { write: async () => undefined } });
    expect((await asked(['input'])).exitCode).toBe(2);
    expect((await asked(['input', 'error'])).exitCode).toBe(130);
  });
});

describe('workflow copy', () => {
  it('workflow copy keeps the text and the test scenarios under a new id', async () => {
    const { run, disk, text } = bundled();
    const { out, exitCode } = await run('copy', 'wr.example', 'team.mine');
    expect([exitCode, out.split('\n')[0]]).toEqual([
      0,
      '✓ Copied wr.example to team.mine: .workrail/workflows/team.mine.json',
    ]);
    expect(text('.workrail/workflows/team.mine.json')).toBe(disk.get(BUNDLED)?.replace('wr.example', 'team.mine'));
    expect((await run('test', 'team.mine', '--min-coverage', '100')).exitCode).toBe(0);
    expect((await run('diff', 'wr.example', 'team.mine')).out).toContain('1 part changed, 0 added, 0 removed');
    expect((await run('copy', 'wr.example')).out).toContain('to project.example');
  });
});

describe('workflow migrate-id', () => {
  const CALLER = '.workrail/workflows/team.caller.json';
  const routine = { ...EXAMPLE, id: 'team.routine-example' };
  const files = {
    [FILE]: EXAMPLE,
    [SCENARIOS]: EXAMPLE_SCENARIOS,
    [CALLER]: {
      ...EXAMPLE,
      id: 'team.caller',
      steps: [
        {
          id: 'ask',
          type: 'parallel',
          title: 'Ask',
          parallelDelegations: [{ workflowId: 'team.example', goal: 'team.example' }],
        },
        { id: 'call', templateCall: { templateId: 'team.templates.routine.example' } },
      ],
    },
    '.workrail/workflows/routines/team.routine-example.json': routine,
  };

  it('workflow migrate-id changes the file, its name, its scenarios and every reference', async () => {
    const { run, disk, text } = onBench(files);
    const before = new Map(disk);
    const dry = await run('migrate-id', 'team.example', 'team.better', '--dry-run');
    expect([dry.exitCode, new Map(disk)]).toEqual([0, before]);
    expect(dry.out).toContain('Would change 3 files; nothing was written.');
    expect((await run('migrate-id', 'team.example', 'team.better')).exitCode).toBe(0);
    expect(text(FILE)).toBeUndefined();
    expect(text(CALLER)).toBe(
      before.get(`/repo/${CALLER}`)?.replace('"workflowId": "team.example"', '"workflowId": "team.better"'),
    );
    expect((await run('test', 'team.better', '--min-coverage', '100')).exitCode).toBe(0);
  });

  it('workflow migrate-id of a routine changes the calls of its template', async () => {
    const { run, text } = onBench(files);
    expect((await run('migrate-id', 'team.routine-example', 'own.routine-sample')).exitCode).toBe(0);
    expect(text(CALLER)).toContain('"templateId": "own.templates.routine.sample"');
    expect((await run('check', 'team.caller')).exitCode).toBe(0);
  });

  it('workflow migrate-id refuses a workflow outside your folders', async () => {
    const { exitCode, talk } = await bundled().run('migrate-id', 'wr.example', 'team.example');
    expect([exitCode, talk]).toEqual([1, expect.stringContaining('workrail workflow copy wr.example')]);
  });
});
