import { expect, it } from 'vitest';
import { NodeId } from '../log/ids.ts';
import { artifactView } from './outcome.ts';
import type { ReportBranch, ReportEntry, ReportRun } from './report.ts';
import { completeEnd, entryFacts, entryTags, stepLabel } from './report-words.ts';

it('a report says what a decision means instead of repeating the words of the log', () => {
  const decisions = [
    'There is no decision in loop "open-points".',
    'The decision is "stop" in loop "open-points".',
    'The run condition of loop "each" is false.',
    'The run condition of step "plan" is true.',
    'The run condition of 2 steps from "rehearse" is true.',
    'Reached loop "each" (3 iterations).',
    'The while condition of loop "each" is true.',
  ];
  const facts = entryFacts({
    kind: 'start',
    nodeId: NodeId.schema.parse('node_0000000000000000'),
    parentNodeId: null,
    eventIndex: 0,
    branch: 'main',
    notes: [],
    artifacts: [],
    decisions: decisions.map((summary) => ({ kind: 'evaluated_condition', summary })),
    divergences: [],
    skipped: [],
    preferences: [],
    capabilities: [],
    contextKeys: ['goal'],
  });
  expect(facts.map(([name, text]) => `${name}: ${text}`)).toEqual([
    'Decision: The agent sent no "continue" or "stop" for loop "open-points", which counts as "continue".',
    'Decision: The agent decided "stop" for loop "open-points".',
    'Decision: Skipped loop "each": its condition is false.',
    'Decision: Step "plan" comes next: its condition is true.',
    'Decision: 2 steps come next, from "rehearse" on: their condition is true.',
    'Decision: Started loop "each" (3 iterations).',
    'Decision: The while condition of loop "each" is true.',
    'Context set: goal',
  ]);
});

it('a step of a nested loop is named by the round of the outer loop and the item of the inner one', () => {
  const outer = { loopId: 'rounds', round: 2 };
  const label = (...rounds: Parameters<typeof stepLabel>[0]['rounds']) => stepLabel({ title: 'Try it', rounds });
  expect([
    label(outer),
    label({ loopId: 'each', round: 1, item: { name: 'cause', value: 'H1: rounding' } }),
    label(outer, { loopId: 'each', round: 1, item: { name: 'cause', value: 'H1: rounding' } }),
    label(outer, { loopId: 'again', round: 3 }),
  ]).toEqual([
    'Try it (round 2)',
    'Try it (round 1: "H1: rounding")',
    'Try it (round 2, item 1: "H1: rounding")',
    'Try it (round 2 of rounds, round 3 of again)',
  ]);
});

it('open gaps are counted at the step that left them and at the end of its branch, resolved ones are not', () => {
  const gap = (nodeId: string, branch: string, isOpen: boolean) => ({ nodeId, branch, isOpen, resolvedOn: [] });
  const run = {
    gaps: [gap('n1', 'main', true), gap('n1', 'main', true), gap('n2', 'main', false), gap('n3', 'A', true)],
  } as unknown as ReportRun;
  const entry = (nodeId: string, kind: ReportEntry['kind']) =>
    ({ kind, nodeId, isFork: true }) as unknown as ReportEntry;
  expect(entryTags(entry('n1', 'step'), run).map(({ text }) => text)).toEqual(['done again', '2 open gaps']);
  expect(entryTags(entry('n2', 'step'), run).map(({ text }) => text)).toEqual(['done again']);
  expect(entryTags(entry('n3', 'blocked_attempt'), run).map(({ text }) => text)).toEqual(['blocked', '1 open gap']);

  const end = (branch: object) => completeEnd(branch as ReportBranch, run).label;
  expect(end({ name: 'B', isCurrent: true, line: ['n0', 'n1', 'n2', 'n9'] })).toBe('Complete with 2 open gaps');
  expect(end({ name: 'A', line: ['n0', 'n3'] })).toBe('Complete with 1 open gap');
  expect(end({ name: 'C', isCurrent: true, line: ['n0', 'n2'] })).toBe('Complete');
});

it('an artifact is shown with names that people read', () => {
  const shown = artifactView({
    kind: 'wr.assessment',
    ciEvidence: 'run 812',
    dimensions: { way_back: 'tried' },
    keyDecisions: ['One writer'],
  });
  expect([shown?.facts, shown?.lists]).toEqual([
    [
      ['CI evidence', 'run 812'],
      ['Way back', 'tried'],
    ],
    [{ name: 'Key decisions', items: ['One writer'] }],
  ]);
});
