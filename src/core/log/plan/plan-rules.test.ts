import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import {
  advanceToCheckpoint,
  type Breaches,
  breachCases,
  brokenEvents,
  drop,
  edgeTo,
  historyBefore,
  latePreferences,
  otherRun,
  repeatOutput,
  sameArtifact,
  secondRoot,
  secondStep,
  set,
  swapOutputs,
  withCause,
} from '../../../../test/examples/broken-plans.ts';
import { BLOCKED, OTHER_RUN, ROOT, SECOND, THIRD } from '../../../../test/examples/ids.ts';
import { PLANS } from '../../../../test/examples/session.ts';
import type { SessionEvent } from '../event.ts';
import { checkPlanIntegrity, type PlanRule } from './plan-integrity.ts';

const oneRoot = () => enforces('node_run_integrity');
const causeInPlan = () => enforces('edge_ends_and_cause_event');
const noEdgeToBlocked = () => enforces('edge_kind_closed');
const nodeAndEdge = () => enforces('advanced_outcome_has_node_and_edge');
const outputOrder = () => enforces('output_order_in_one_operation');

const BREACHES: Breaches<PlanRule> = {
  plan_of_one_run: [
    {
      plan: 'advance',
      what: 'a run begun beside the advance of another',
      at: 1,
      events: (events) => [...events, ...otherRun(PLANS.start.events.slice(1, 3))],
    },
    {
      plan: 'start',
      what: 'the folder of another run',
      at: PLANS.start.events.findIndex(({ kind }) => kind === 'observation_recorded'),
      events: set('observation_recorded', '/data', {
        key: 'repo_root',
        value: { type: 'path', value: '/work/shop/api' },
        confidence: 'high',
        ofRun: OTHER_RUN,
      }),
    },
  ],
  run_has_root: [{ plan: 'start', what: 'a run without a root', at: 1, events: (events) => events.slice(0, 2) }],
  root_is_first_node: [
    {
      plan: 'start',
      what: 'a root that is not a step',
      at: 2,
      events: set('node_created', '/data/nodeKind', 'checkpoint'),
    },
    { plan: 'fork', what: 'a second root', claim: oneRoot, at: 51, events: (events) => secondRoot(events.slice(1, 2)) },
    {
      plan: 'start',
      what: 'two roots at once',
      claim: oneRoot,
      at: 2,
      events: (events) => [...events.slice(0, 3), ...secondRoot(events.slice(2, 3), SECOND)],
    },
  ],
  attempt_has_outcome: [
    { plan: 'block', what: 'a blocked attempt without its outcome', at: 40, events: drop('advance_recorded') },
  ],
  fact_on_created_node: [
    {
      plan: 'advance',
      what: 'a note on the attempted node',
      at: 13,
      events: set('node_output_appended', '/scope/nodeId', ROOT),
    },
    {
      plan: 'advance',
      what: 'context on the attempted node',
      at: 16,
      events: set('context_set', '/scope/nodeId', ROOT),
    },
    {
      plan: 'advance',
      what: 'a gap on the attempted node',
      at: 27,
      events: set('gap_recorded', '/scope/nodeId', ROOT),
    },
    {
      plan: 'block',
      what: 'a draft on the attempted node',
      at: 41,
      events: set('node_output_appended', '/scope/nodeId', SECOND),
    },
    {
      plan: 'checkpoint',
      what: 'a note on the node above',
      at: 48,
      events: set('node_output_appended', '/scope/nodeId', THIRD),
    },
  ],
  late_preferences_on_step: [
    { plan: 'retry', what: 'preferences set at a blocked attempt', at: 4, events: () => [latePreferences(BLOCKED)] },
  ],
  evidence_known: [
    {
      plan: 'retry',
      what: 'an event that is not there',
      at: 45,
      events: set('gap_recorded', '/data/evidenceRefs/0/eventId', 'evt_0000000000000000'),
    },
    {
      plan: 'retry',
      what: 'an output that is not there',
      at: 45,
      events: set('gap_recorded', '/data/evidenceRefs/1/outputId', 'out_0000000000000000'),
    },
  ],
  edge_cause_in_plan: [
    {
      plan: 'advance',
      what: 'a step without an attempt',
      claim: causeInPlan,
      at: 12,
      events: drop('advance_recorded'),
    },
    {
      plan: 'advance',
      what: 'a cause of another kind',
      claim: causeInPlan,
      at: 12,
      events: (events) => withCause(events, 1),
    },
    {
      plan: 'advance',
      what: 'a second step of one attempt',
      claim: nodeAndEdge,
      at: 12,
      events: (events) => secondStep(events, THIRD),
    },
    {
      plan: 'checkpoint',
      what: 'a cause elsewhere',
      claim: causeInPlan,
      at: 47,
      events: (events) => withCause(events, 2),
    },
  ],
  node_has_edge: [
    { plan: 'advance', what: 'a step without an edge', claim: nodeAndEdge, at: 11, events: drop('edge_created') },
    { plan: 'checkpoint', what: 'a checkpoint without an edge', at: 46, events: drop('edge_created') },
    {
      plan: 'block',
      what: 'a blocked attempt with an edge',
      claim: noEdgeToBlocked,
      at: 40,
      events: (events) => [...events, edgeTo(BLOCKED, SECOND)],
    },
  ],
  outcome_node_in_plan: [
    {
      plan: 'advance',
      what: 'an outcome without its node',
      claim: nodeAndEdge,
      at: 10,
      events: (events) => events.slice(0, 1),
    },
    { plan: 'advance', what: 'an advance to a checkpoint', claim: nodeAndEdge, at: 10, events: advanceToCheckpoint },
    { plan: 'block', what: 'a block without its attempt', at: 39, events: drop('node_created') },
    { plan: 'block', what: 'a blocked step', at: 39, events: set('node_created', '/data/nodeKind', 'step') },
    {
      plan: 'retry',
      what: 'an attempt at another node',
      claim: nodeAndEdge,
      at: 42,
      // The next one there, so that only the node is wrong.
      events: (events) =>
        set(
          'advance_recorded',
          '/scope/nodeId',
          SECOND,
        )(set('advance_recorded', '/data/attemptId', 1)(events) as readonly SessionEvent[]),
    },
  ],
  output_order: [
    {
      plan: 'advance',
      what: 'a recap after an artifact',
      claim: outputOrder,
      at: 14,
      events: (events) => swapOutputs(events, 0, 1),
    },
    {
      plan: 'advance',
      what: 'artifacts descending',
      claim: outputOrder,
      at: 15,
      events: (events) => swapOutputs(events, 1, 2),
    },
    {
      plan: 'advance',
      what: 'an artifact twice',
      claim: outputOrder,
      at: 15,
      events: (events) => repeatOutput(events, 1, 2),
    },
    {
      plan: 'advance',
      what: 'content types descending',
      claim: outputOrder,
      at: 15,
      events: (events) => sameArtifact(events, 'text/plain', 'application/json'),
    },
    { plan: 'advance', what: 'two recaps', claim: outputOrder, at: 14, events: (events) => repeatOutput(events, 0, 1) },
  ],
};

test.each(breachCases(BREACHES))('%s is broken by %s', (rule, _, breach) => {
  breach.claim?.();
  expect(checkPlanIntegrity(historyBefore(breach.plan), brokenEvents(breach))).toEqual(
    err({ code: 'integrity_violation', rule, eventIndex: breach.at }),
  );
});

test('of two artifacts with the same bytes, the content type decides the order', () => {
  enforces('output_order_in_one_operation');
  const events = sameArtifact(PLANS.advance.events, 'application/json', 'text/plain') as readonly SessionEvent[];
  expect(checkPlanIntegrity(historyBefore('advance'), events)).toEqual(ok(undefined));
});

test('preferences may be set from outside at an existing step', () => {
  const events = [latePreferences(SECOND)] as readonly SessionEvent[];
  expect(checkPlanIntegrity(historyBefore('retry'), events)).toEqual(ok(undefined));
});
