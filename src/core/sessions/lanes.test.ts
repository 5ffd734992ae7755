import { expect, it } from 'vitest';
import type { RunLineData, RunPageData, RunStepData } from '../wire/run-shapes.ts';
import { type LaneChoice, type LaneRow, lanesOf } from './lanes.ts';

const CLOSED: LaneChoice = { toggled: new Set(), isAll: false, isPlanned: false };

const step = (id: string, more: Partial<RunStepData> = {}): RunStepData => ({
  nodeId: `node_${id}` as RunStepData['nodeId'],
  title: id,
  state: 'done',
  ...more,
});

const line = (name: string, steps: readonly RunStepData[], more: Partial<RunLineData> = {}): RunLineData => ({
  name,
  isCurrent: false,
  steps: [...steps],
  ...more,
});

const run = (lines: readonly RunLineData[], loops: RunPageData['loops'] = {}): RunPageData => ({
  runId: 'run_0' as RunPageData['runId'],
  lines: [...lines],
  loops,
  plan: ['Later'],
  lacking: [],
  preferences: { autonomy: 'guided', riskPolicy: 'conservative', isPending: false, recommended: {} },
});

const shown = (rows: readonly LaneRow[]) =>
  rows.map((row) => {
    const words = { step: 'step', hung: 'hung', skipped: 'skipped', plan: 'plan', branch: 'branch', round: 'round' }[
      row.kind
    ];
    const what = row.kind === 'step' ? row.step.title : row.kind === 'round' ? `${row.title} ${row.round}` : row.line;
    return `${'  '.repeat(row.level - 1)}${words} ${what}${row.isOpen === undefined ? '' : row.isOpen ? ' -' : ' +'}`;
  });

it('the line where work goes on is open, and another line is a row under the step that it leaves', () => {
  const main = line('main', [step('a'), step('b'), step('c', { state: 'due' })]);
  const a = line('A', [step('b'), step('d', { state: 'due' })], { from: 'main', isCurrent: true });
  const { rows, edges, count } = lanesOf(run([main, a]), CLOSED);
  expect(shown(rows)).toEqual(['step a', 'step b', '  branch main +', 'step d']);
  // The step where a line forks is on both, each with what it led to.
  expect(rows[1]).toMatchObject({ key: 's:A:node_b', doneBy: 'node_d' });
  expect(edges).toEqual([
    { from: 0, to: 1, fromLane: 0, toLane: 0 },
    { from: 1, to: 2, fromLane: 0, toLane: 1 },
    { from: 1, to: 3, fromLane: 0, toLane: 0 },
  ]);
  expect(count).toBe(2);
});

it('as many lanes are needed as branches are nested, not as there are branches', () => {
  const main = line('main', [step('a'), step('b', { state: 'due' })], { isCurrent: true });
  const others = Array.from({ length: 250 }, (_, i) =>
    line(`L${i}`, [step('a'), step(`x${i}`, { state: 'due' })], { from: 'main' }),
  );
  const nested = line('N', [step('x0'), step('y', { state: 'due' })], { from: 'L0' });
  const { rows, count } = lanesOf(run([main, ...others, nested]), { ...CLOSED, isAll: true });
  expect(count).toBe(3);
  expect(rows).toHaveLength(2 + 250 * 3 + 3);
});

it('rounds of a loop are folded but the one that is going on, and steps skipped before a loop are not part of it', () => {
  const inLoop = (id: string, round: number, more: Partial<RunStepData> = {}) =>
    step(id, { rounds: [{ loopId: 'l', round }], ...more });
  const skipped = [{ title: 'Not this', why: 'runs only if it rains.' }];
  const main = line(
    'main',
    [inLoop('a', 1, { skipped }), inLoop('b', 1), inLoop('c', 2), inLoop('d', 2, { state: 'due' })],
    { isCurrent: true },
  );
  const { rows } = lanesOf(run([main], { l: 'Loop' }), CLOSED);
  expect(shown(rows)).toEqual(['skipped main', 'round Loop 1 +', 'round Loop 2 -', '  step c', '  step d']);
  const other = new Set([rows[1]?.key ?? '', rows[2]?.key ?? '']);
  expect(shown(lanesOf(run([main], { l: 'Loop' }), { ...CLOSED, toggled: other }).rows)).toEqual([
    'skipped main',
    'round Loop 1 -',
    '  step a',
    '  step b',
    'round Loop 2 +',
  ]);
});

it('attempts and checkpoints are folded into their step, and a link to one opens everything around it', () => {
  const hung = [{ nodeId: 'node_t', kind: 'blocked_attempt' }] as unknown as NonNullable<RunStepData['hung']>;
  const main = line('main', [step('a'), step('b', { state: 'due' })], { isCurrent: true });
  const a = line('A', [step('a'), step('c', { hung }), step('d', { state: 'due' })], { from: 'main' });
  const b = line('B', [step('c'), step('e', { state: 'due' })], { from: 'A' });
  const page = run([main, a, b]);
  expect(shown(lanesOf(page, CLOSED).rows)).toEqual(['step a', '  branch A +', 'step b']);
  const chosen = { line: 'A', nodeId: 'node_t' };
  expect(shown(lanesOf(page, { ...CLOSED, chosen }).rows)).toEqual([
    'step a',
    '  branch A -',
    '    step a',
    '    step c -',
    '      hung A',
    '      branch B +',
    '    step d',
    'step b',
  ]);
  const inner = { line: 'B', nodeId: 'node_e' };
  expect(shown(lanesOf(page, { ...CLOSED, chosen: inner }).rows)).toContain('        step e');
});

it('a pause of half an hour or more inside a step is known, and steps to come are shown on request', () => {
  const minute = 60_000;
  const main = line(
    'main',
    [step('a', { startedAt: 0 }), step('b', { startedAt: 29 * minute }), step('c', { startedAt: 90 * minute })],
    { isCurrent: true },
  );
  const { rows } = lanesOf(run([main]), { ...CLOSED, isPlanned: true });
  expect(rows.map((row) => (row.kind === 'step' ? row.idleMs / minute : row.kind))).toEqual([0, 61, 0, 'plan']);
});
