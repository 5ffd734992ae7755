import { describe, expect, it } from 'vitest';
import { EXAMPLE } from '../../../test/bench/example-workflow.ts';
import { FILE, onBench } from '../../../test/bench/run-bench.ts';
import { runFake } from '../../../test/cli/fake-program.ts';
import { enforces } from '../../../test/enforces.ts';
import { authorCatalog } from '../../app/author/author-catalog.ts';
import { findTargetWorkflow } from '../../app/author/find-targets.ts';
import { listedAnswers, playRun } from '../../app/author/play-run.ts';
import { previewStep } from '../../app/author/preview-step.ts';
import { rehearsal, type Turn } from '../../app/author/rehearsal.ts';
import { AUTONOMY } from '../../core/log/autonomy.ts';

describe('workflow preview', () => {
  it.each(AUTONOMY)('the preview of a step equals what an agent reads, in %s mode', async (mode) => {
    const { author } = onBench({ [FILE]: EXAMPLE });
    const { catalog } = await authorCatalog(author);
    const context = { taskSize: 'large', hurry: true };
    const turns: Turn[] = [];
    const stage = rehearsal(await author.services(catalog));
    const player = {
      stage,
      send: stage.send,
      answer: listedAnswers([]).answer,
      yieldNow: author.yieldNow,
      watch: (turn: Turn) => turns.push(turn),
    };
    await playRun(player, { workflowId: 'team.example', workspace: '/repo', mode, context });
    const { listed } = (await findTargetWorkflow(author, 'team.example'))._unsafeUnwrap();
    const told = turns.flatMap(({ reply }) => (reply.kind === 'ok' && reply.pending !== null ? [reply.pending] : []));
    expect(told.map(({ stepId }) => stepId)).toEqual(['size', 'design', 'work', 'rounds--decide', 'judge', 'merge']);
    for (const pending of told) {
      const shown = await previewStep(await author.services(catalog), listed.workflow, {
        stepId: pending.stepId,
        context,
        mode,
        places: { workspace: '/repo', file: listed.file.path },
      });
      const { reply, failing } = shown._unsafeUnwrap();
      expect([reply.structured['pending'], failing]).toEqual([pending, []]);
    }
  });

  it('the preview of the first step includes what an agent reads at the start', async () => {
    const step = (id: string, more: object = {}) => ({ id, title: id, prompt: `Do ${id}.`, ...more });
    const steps = [step('rare', { runCondition: { var: 'rare', equals: 'yes' } }), step('usual'), step('last')];
    const file = {
      id: 'team.two',
      name: 'Two',
      description: 'Begins in two ways.',
      metaGuidance: ['Be brief.'],
      references: [{ id: 'style', title: 'Style', source: 'docs/style.md', purpose: 'How to write.' }],
      steps,
    };
    const { run } = onBench({ [FILE]: JSON.stringify(file) });
    const begins = async (stepId: string, context: object) => {
      const { out } = await run('preview', 'team.two', '--step', stepId, '--context', JSON.stringify(context));
      return ['Ship it.', '- Be brief.', 'docs/style.md\n  How to write.'].every((part) => out.includes(part));
    };
    const goal = 'Ship it.';
    expect(await Promise.all(['rare', 'usual', 'last'].map((id) => begins(id, { goal })))).toEqual([
      false,
      true,
      false,
    ]);
    expect(await begins('rare', { goal, rare: 'yes' })).toBe(true);
    const long = await run(
      'preview',
      'team.two',
      '--step',
      'usual',
      '--context',
      JSON.stringify({ goal: 'g'.repeat(2_000) }),
    );
    expect(long.out).toContain('Warning: ');
  });

  it('the preview says if the step would be skipped, and suggests the step that was meant', async () => {
    const { run, json } = onBench({ [FILE]: EXAMPLE });
    const { out } = await run('preview', 'team.example', '--step', 'design', '--context', '{"taskSize":"small"}');
    expect(out).toContain('Think about "small".');
    expect(out).toContain(
      'this context the step is skipped: it runs only when is-large is true (is-large: taskSize is "large").\n',
    );
    expect((await run('preview', 'team.example', '--step', 'desgin')).talk).toContain('Did you mean design?');
    expect((await json('preview', 'team.example', '--step', 'judge')).exitCode).toBe(0);
    expect((await run('preview', 'team.example', '--context', '[1]')).exitCode).toBe(2);
  });

  it('the preview of a workflow shows where its steps come from', async () => {
    const { out } = await onBench({ [FILE]: EXAMPLE }).run('preview', 'team.example');
    expect(out).toContain('      rounds--decide  Decide: Rounds');
    expect(out).toContain('from wr.contracts.loop_control\n');
    expect(out).toContain('is-large  taskSize is "large"\n');
  });
});

describe('workflow list and show', () => {
  it('workflow list fits the terminal, and prints one line per workflow without one', async () => {
    const description = 'Says at length what it is for, and goes on about it until no line of a terminal can hold it.';
    const about = `${'Prose goes on. '.repeat(12)}\n- ${'An item goes on. '.repeat(8)}`;
    const file = { ...EXAMPLE, description, about, examples: [description], tags: [] };
    const { author } = onBench({ [FILE]: file });
    for (const words of [['list'], ['show', 'team.example'], ['preview', 'team.example']]) {
      const { out } = await runFake({ argv: ['workflow', ...words, '--verbose'], author, columns: 60 });
      expect(out.split('\n').filter((line) => line.length > 60)).toEqual([]);
    }
    expect((await runFake({ argv: ['workflow', 'list'], author })).out).toContain(`  team.example  ${description}`);
  });

  it('workflow list shows the source and its pinned commit', async () => {
    const { author } = onBench({ [FILE]: EXAMPLE });
    const { files } = await author.source.files();
    const added = { name: 'flows', kind: 'git', commit: '1a2b3c4d5e6f'.padEnd(40, '0') } as const;
    const source = {
      files: async () => ({ files: files.map((file) => ({ ...file, kind: 'remote', added }) as const) }),
    };
    const run = (...words: readonly string[]) =>
      runFake({ argv: ['workflow', ...words], author: { ...author, source } });
    expect((await run('list')).out).toContain('  team.example  Has one of everything.  flows (git 1a2b3c4d5e)\n');
    expect((await run('show', 'team.example')).out).toContain(`flows (git 1a2b3c4d5e), ${FILE}\n`);
    const { data } = JSON.parse((await run('list', '--json')).out) as { data: { workflows: object[] } };
    expect(data.workflows).toMatchObject([{ source: 'remote', added }]);
  });

  it('workflow show finds a workflow by the beginning of its id or name', async () => {
    enforces('cli_ids_forgiving');
    const { run, json } = onBench({ [FILE]: EXAMPLE });
    expect((await run('show', 'team.ex')).out).toContain('team.example  Example');
    expect((await run('show', 'exam')).exitCode).toBe(0);
    expect((await run('show', 'team.exampel')).talk).toContain('Did you mean team.example?');
    expect((await json('show', FILE)).data).toMatchObject({ size: { steps: 6, loops: 1, conditional: 1 } });
  });

  it('workflow show --compiled lists the checks of every step, and no heading without lines', async () => {
    const run = 'npm test -- --run';
    const check = { id: 'tests', run, minimum: 'observed' };
    const [first, ...others] = EXAMPLE.steps as readonly object[];
    const { run: shown, json } = onBench({ [FILE]: { ...EXAMPLE, steps: [{ ...first, checks: [check] }, ...others] } });
    const { out } = await shown('show', 'team.example', '--compiled');
    expect(out).toMatch(/^Checks\n {2}size: tests {2}at least observed {2}npm test -- --run$/m);
    expect((await json('show', 'team.example', '--compiled')).data).toMatchObject({
      compiled: {
        steps: expect.arrayContaining([
          expect.objectContaining({ checks: [{ id: 'tests', command: run, minimum: 'observed' }] }),
        ]),
      },
    });
    const plain = {
      id: 'team.example',
      name: 'N',
      description: 'D.',
      steps: [{ id: 'one', title: 'One', prompt: 'Do.' }],
    };
    const bare = (await onBench({ [FILE]: plain }).run('show', 'team.example', '--compiled')).out;
    expect(bare).toContain('Hash   ');
    for (const heading of ['Added texts', 'Checks', 'Contracts']) expect(bare).not.toContain(heading);
  });

  it('workflow list shows workflows, what they override, and invalid files', async () => {
    const { run, json } = onBench({
      [FILE]: EXAMPLE,
      '/home/.workrail/workflows/team.example.json': EXAMPLE,
      '.workrail/workflows/old-one.json': { ...EXAMPLE, id: 'old-one' },
      '.workrail/workflows/broken.json': '{"id": "team.broken"',
    });
    const { out } = await run('list');
    expect(out).toContain('overrides /home/.workrail/workflows/team.example.json\n');
    expect(out).toContain('workrail workflow migrate-id old-one project.old_one\n');
    expect(out).toContain('✗ .workrail/workflows/broken.json is not used (1 error)\n');
    expect((await json('list', 'everything')).data).toMatchObject({
      workflows: [{ id: 'old-one' }, { id: 'team.example' }],
    });
  });
});
