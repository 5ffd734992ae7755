import { expect, it } from 'vitest';
import { NodeId } from '../log/ids.ts';
import { entryFacts } from './report-words.ts';

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
    'Decision: The next step runs, because its condition is true.',
    'Decision: The next 2 steps run, because their condition is true.',
    'Decision: Started loop "each" (3 iterations).',
    'Decision: The while condition of loop "each" is true.',
    'Context set: goal',
  ]);
});
