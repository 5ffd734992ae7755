import { describe, expect, it } from 'vitest';
import { forkedWorld } from '../../../test/cli/forked-session.ts';
import { lookedAtWorld } from '../../../test/cli/looked-at.ts';
import { reportOf } from '../../../test/e2e/report/hunted-report.ts';
import { enforces } from '../../../test/enforces.ts';
import { tokenOf, told, withFile } from '../../../test/examples/engine.ts';
import { forEachLoop, step } from '../../../test/examples/loop-files.ts';
import { sessionOf } from '../../../test/examples/shared-session.ts';
import { reportMarkdown } from '../../core/report/markdown/report-markdown.ts';
import type { SessionTreeData } from './tree-steps.ts';

describe('session tree', () => {
  it('session tree draws finished steps, branches and what blocks the run', async () => {
    const { look, sessionId } = await forkedWorld();
    const id = sessionId.slice(-4);
    expect(await look(['session', 'tree', id])).toMatchObject({
      exitCode: 0,
      out: [
        'test.plain  "checkout fails on empty cart"   blocked   branch A ⑂ 1 other branch',
        '✓ 1 Do s1        0:42',
        '✓ 2 Do s2        1:10',
        '├─⑂ main (last used 12:02)  3 ✓  4 ▲',
        '└─▸ branch A                3 ✓  4 ✓  5 ▲×3',
        '  ← 5 Do s5: This step requires notes.',
        'Marks: ✓ done, ▲ blocked attempt, ×2 two of them.',
        '',
      ].join('\n'),
      talk: `Next: workrail session resume ${id}\n`,
    });
    expect((await look(['session', 'tree', id], 120)).out).toContain('5 ▲×3  ← 5 Do s5: This step requires notes.\n');
  });

  it('session tree separates runs and shows loop iterations, skipped steps, checkpoints and gaps', async () => {
    const { start, send, save, look } = lookedAtWorld();
    let loop = await send(await start('test.loops', { context: { files: ['a', 'b', 'c'] } }), { notes: 'Planned.' });
    await save(loop, 'Half way.');
    const stop = { artifacts: [{ kind: 'wr.loop_control', loopId: 'refine', decision: 'stop', summary: 'done' }] };
    loop = await send(await send(loop, { notes: 'Tried.' }), stop);
    for (const notes of ['a', 'b']) loop = await send(loop, { notes });
    const other = await start('test.skips', {
      attachTo: tokenOf(loop, 'stateToken'),
      goal: 'the second run',
      mode: 'full_auto_never_stop',
    });
    await send(other);
    const { out } = await look(['session', 'tree']);
    expect(out.replaceAll(/(?<=run \d of 2 · )\w{4}/g, 'tag0')).toBe(
      [
        '── run 1 of 2 · tag0 · started 12:00 ──',
        'test.loops  "Loops"   running',
        '✓ 1 Do plan                                        0:00',
        '  ✓ 2 Do try-it · round 1                          0:00  ◆ 1 checkpoint',
        '  ✓ 3 Do decide · round 1                          0:00',
        '✓ ↻ Each file · rounds 1–2 folded, 2 steps         0:00',
        '  ● 6 Look · round 3                        since 12:00',
        '',
        '── run 2 of 2 · tag0 · started 12:00 ──',
        'test.skips  "the second run"   running',
        '✓ 1 Do first         0:00  ! 1 gap',
        '– Do split  skipped (condition "is-large" is false)',
        '– Do shrink  skipped',
        '● 2 Do last   since 12:00',
        '',
      ].join('\n'),
    );
  });

  it('session tree shows checkpoints, gaps and skipped steps of a branch', async () => {
    const { start, send, save, show, look } = lookedAtWorld();
    const first = await start('test.skips', { mode: 'full_auto_never_stop' });
    await save(await send(first), 'On the way.');
    await save(await send(await show(first), { notes: 'Again.', context: { size: 'large' } }), 'Once.');
    const { out } = await look(['session', 'tree']);
    expect(out.split('\n').slice(1, 3)).toEqual([
      expect.stringMatching(/^├─⑂ main \(last used 12:00\) {2}1 ✓! {2}–×2 {2}2 ○◆$/),
      expect.stringMatching(/^└─▸ branch A {16}1 ✓ {2}2 ●◆ {2}← 2 Do split$/),
    ]);
    expect(out).toMatch(/\nMarks: ✓ done, – skipped, ◆ checkpoint, ! open gap, ×2 two of them\.\n$/);
    expect((await look(['session', 'show'])).out).toContain('\n  saved      2 checkpoints\n');
  });

  it('session tree and notes name loop iterations by their items, as replies do', async () => {
    const steps = [
      { ...step('pick'), title: 'Pick' },
      forEachLoop('each', 'deps', [{ ...step('raise'), title: 'Raise {{currentItem.name}} to {{target}}' }]),
    ];
    const file = { id: 'test.raise', name: 'Raise', description: 'Over a list.', steps };
    const { start, send, look } = lookedAtWorld({ listing: () => withFile(file) });
    const deps = ['left-pad', 'is-odd'].map((name) => ({ name }));
    const first = await send(await start('test.raise'), { notes: 'Picked.', context: { deps, target: 'latest' } });
    expect(told(first, 'pending.title')).toBe('Raise "left-pad" to "latest"');
    await send(first, { notes: 'Raised.', context: { target: 'next' } });
    const { out } = await look(['session', 'tree']);
    expect(out).toMatch(/2 Raise left-pad to latest · round 1 .*\n.*3 Raise is-odd to next · round 2 /);
    expect((await look(['session', 'notes'])).out).toContain('\n## 2 Raise left-pad to latest · round 1\n');
    expect((await look(['session', 'show'])).out).toContain('3: Raise is-odd to next · round 2');
    expect((await look(['session', 'resume', '--at', 'Raise left-pad'])).out).toContain('"Raise left-pad to latest"');
  });

  it('session tree shows where the current branch continues, even after an early one', async () => {
    const { start, send, show, look } = lookedAtWorld();
    const first = await start('test.plain');
    await send(first, { notes: 'One way.' });
    let at = await show(first);
    for (let i = 0; i < 8; i++) at = await send(at, { notes: 'Another.' });
    expect((await look(['session', 'tree'])).out.split('\n').slice(1, 5)).toEqual([
      '├─⑂ main (last used 12:00)  1 ✓  2 ○',
      '└─▸ branch A',
      '✓ 1 Do s1            0:00',
      '✓ 2 Do s2            0:00',
    ]);
  });

  it('a run that waited for its list before the first step counts that step as 1 in replies, trees and reports', async () => {
    enforces('position_counts_line');
    const steps = [forEachLoop('each', 'deps', [step('raise')]), step('end')];
    const file = { id: 'test.waits', name: 'Waits', description: 'Over a list.', steps };
    const { start, send, look, services } = lookedAtWorld({ listing: () => withFile(file) });
    const waiting = await start('test.waits');
    expect([told(waiting, 'kind'), told(waiting, 'pending')]).toEqual(['blocked', null]);
    const first = await send(waiting, { context: { deps: ['a'] } });
    expect([told(first, 'pending.stepId'), told(first, 'pending.position.index')]).toEqual(['raise', 1]);
    const second = await send(first, { notes: 'Raised.' });
    expect(told(second, 'pending.position')).toEqual({ index: 2, of: 2 });
    const { out } = await look(['session', 'tree']);
    expect(out).toMatch(/^. before the first step .*\n.*✓ 1 raise · round 1 .*\n● 2 end /m);
    const markdown = reportMarkdown(await reportOf(services, sessionOf(first)));
    expect(markdown).toMatch(/# ✓ Start\n.*# ✓ 1\. raise/s);
    expect(markdown).toContain('· 1 step done');
  });

  it('session tree as JSON marks the current branch, and gives no number to steps that were skipped', async () => {
    const { look, sessionId } = await forkedWorld();
    const { data } = JSON.parse((await look(['session', 'tree', sessionId, '--json'])).out) as {
      readonly data: SessionTreeData;
    };
    expect(data.runs[0]?.lines.map(({ name, from, isCurrent }) => [name, from, isCurrent])).toEqual([
      ['main', undefined, undefined],
      ['A', 'main', true],
    ]);
    const { start, send, look: other } = lookedAtWorld();
    await send(await start('test.skips', { mode: 'full_auto_never_stop' }));
    const shown = JSON.parse((await other(['session', 'tree', '--json'])).out) as { readonly data: SessionTreeData };
    expect(shown.data.runs[0]?.lines[0]?.steps.flatMap(({ skipped }) => skipped.map(Object.keys))).toEqual([
      ['stepId', 'title', 'conditionId'],
      ['stepId', 'title'],
    ]);
    const { data: one } = JSON.parse((await other(['session', 'show', '--json'])).out) as {
      readonly data: {
        readonly runs: readonly { readonly gaps: readonly { readonly place: { position: number } }[] }[];
      };
    };
    expect(one.runs[0]?.gaps.map(({ place }) => place.position)).toEqual([1]);
  });

  it('session tree names the first and last of many skipped steps', async () => {
    const never = { runCondition: { var: 'isLarge', equals: true } };
    const parts = ['b', 'c', 'd'].map((id) => step(id, { title: `Part ${id}`, ...never }));
    const steps = [step('a'), { ...forEachLoop('slices', 'list', [step('slice')]), ...never }, ...parts, step('z')];
    const file = { id: 'test.skipping', name: 'Skipping', description: 'Skips.', steps };
    const { start, send, look } = lookedAtWorld({ listing: () => withFile(file) });
    await send(await start('test.skipping', { context: { isLarge: false } }), { notes: 'n' });
    expect((await look(['session', 'tree'])).out).toContain('\n– 4 steps skipped: "Loop slices" … "Part d"\n');
  });

  it('session tree of a long run fits on a screen, and --verbose shows all of it', async () => {
    const steps = Array.from({ length: 120 }, (_, i) => ({ id: `s${i}`, title: `Step ${i}`, prompt: 'Go.' }));
    const file = { id: 'test.long', name: 'Long', description: 'Many steps.', steps };
    const { start, send, look } = lookedAtWorld({ listing: () => withFile(file) });
    let at = await start('test.long');
    for (let i = 0; i < 100; i++) at = await send(at, { notes: 'n' });
    const lines = (await look(['session', 'tree'])).out.split('\n');
    expect(lines.length).toBeLessThan(45);
    expect(lines).toContain('⋮ 62 steps not shown. Add --verbose to see them.');
    expect((await look(['session', 'tree', '--verbose'])).out.split('\n').length).toBeGreaterThan(100);
  });
});
