import { expect, it } from 'vitest';
import { NodeId } from '../log/ids.ts';
import { artifactView } from './outcome.ts';
import { entryFacts, stepLabel } from './report-words.ts';

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
