import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import {
  type Breaches,
  breachCases,
  brokenEvents,
  drop,
  edgeTo,
  historyBefore,
  repeatGap,
  set,
  underOtherId,
} from '../../../../test/examples/broken-plans.ts';
import { BLOCKED, FORK, OTHER_RUN, ROOT, SECOND, THIRD, TO_SECOND } from '../../../../test/examples/ids.ts';
import { PLAN_NAMES, PLANS } from '../../../../test/examples/session.ts';
import { sha256 } from '../../../../test/examples/sha256.ts';
import type { SessionEvent } from '../event.ts';
import type { GapId } from '../ids.ts';
import { outputId } from '../operation/operation-drafts.ts';
import { checkPlanIntegrity, type IntegrityRule, type PlanRule } from './plan-integrity.ts';

const notesOfSecond = outputId(TO_SECOND, { payloadKind: 'notes', place: 0 }, sha256);
const artifactOfSecond = outputId(TO_SECOND, { payloadKind: 'artifact_ref', place: 0 }, sha256);
const OTHER_HASH = `sha256:${'0'.repeat(64)}`;

const nodeOfRun = () => enforces('node_run_integrity');
const edgeEnds = () => enforces('edge_ends_and_cause_event');
const kindFitsCause = () => enforces('edge_kind_fits_cause');
const noEdgeToBlocked = () => enforces('edge_kind_closed');
const tipAdvance = () => enforces('edge_cause_tip_advance');
const sameNodeAndChannel = () => enforces('supersede_same_node_and_channel');

const BREACHES: Breaches<Exclude<IntegrityRule, PlanRule>> = {
  session_begins_once: [
    { plan: 'start', what: 'no beginning', at: 1, events: drop('session_created') },
    { plan: 'advance', what: 'a second beginning', at: 0, events: (events) => [PLANS.start.events[0], ...events] },
  ],
  event_is_new: [
    {
      plan: 'advance',
      what: 'an event again',
      at: 1,
      events: (events) => [...PLANS.start.events.slice(1, 2), ...events],
    },
    {
      plan: 'advance',
      what: 'an id of the same plan',
      at: 13,
      events: (events) => set('node_output_appended', '/eventId', events[1]?.eventId)(events),
    },
  ],
  run_is_new: [
    {
      plan: 'advance',
      what: 'a run again',
      at: 1,
      events: (events) => [...PLANS.start.events.slice(1, 2).map(underOtherId), ...events],
    },
  ],
  node_is_new: [
    { plan: 'checkpoint', what: 'a node again', at: 46, events: set('node_created', '/scope/nodeId', ROOT) },
  ],
  node_run_known: [
    { plan: 'advance', what: 'an unknown run', at: 11, events: set('node_created', '/scope/runId', OTHER_RUN) },
  ],
  node_hash_equals_run: [
    {
      plan: 'advance',
      what: 'another hash',
      claim: nodeOfRun,
      at: 11,
      events: set('node_created', '/data/workflowHash', OTHER_HASH),
    },
  ],
  node_parent_in_run: [
    {
      plan: 'checkpoint',
      what: 'an unknown parent',
      claim: nodeOfRun,
      at: 46,
      events: set('node_created', '/data/parentNodeId', FORK),
    },
  ],
  scope_node_known: [
    { plan: 'start', what: 'a fact of no node', at: 3, events: set('context_set', '/scope/nodeId', SECOND) },
    { plan: 'start', what: 'a fact of another run', at: 3, events: set('context_set', '/scope/runId', OTHER_RUN) },
    { plan: 'advance', what: 'an attempt at no node', at: 10, events: set('advance_recorded', '/scope/nodeId', THIRD) },
  ],
  edge_ends_in_run: [
    {
      plan: 'retry',
      what: 'an edge to nowhere',
      claim: edgeEnds,
      at: 44,
      events: (events) => [...events, edgeTo(FORK, ROOT)],
    },
    {
      plan: 'advance',
      what: 'an edge from nowhere',
      claim: edgeEnds,
      at: 12,
      events: set('edge_created', '/data/fromNodeId', THIRD),
    },
    {
      plan: 'advance',
      what: 'an edge of another run',
      claim: edgeEnds,
      at: 12,
      events: set('edge_created', '/scope/runId', OTHER_RUN),
    },
  ],
  edge_follows_parent: [
    {
      plan: 'retry',
      what: 'an edge past the parent',
      claim: edgeEnds,
      at: 44,
      events: set('edge_created', '/data/fromNodeId', SECOND),
    },
  ],
  edge_kind_fits_node: [
    {
      plan: 'checkpoint',
      what: 'a step to a checkpoint',
      claim: kindFitsCause,
      at: 47,
      events: set('edge_created', '/data/edgeKind', 'acked_step'),
    },
    {
      plan: 'advance',
      what: 'a checkpoint at a step',
      claim: kindFitsCause,
      at: 12,
      events: set('edge_created', '/data/edgeKind', 'checkpoint'),
    },
    {
      plan: 'retry',
      what: 'an edge to a blocked attempt',
      claim: noEdgeToBlocked,
      at: 44,
      events: (events) => [...events, edgeTo(BLOCKED, SECOND)],
    },
  ],
  edge_cause_fits_tip: [
    {
      plan: 'advance',
      what: 'a fork where nothing was',
      claim: tipAdvance,
      at: 12,
      events: set('edge_created', '/data/cause/kind', 'non_tip_advance'),
    },
    {
      plan: 'retry',
      what: 'a fork at a blocked attempt',
      claim: tipAdvance,
      at: 44,
      events: set('edge_created', '/data/cause/kind', 'non_tip_advance'),
    },
    {
      plan: 'fork',
      what: 'a second step from the same node as a tip advance',
      at: 52,
      events: set('edge_created', '/data/cause/kind', 'tip_advance'),
    },
  ],
  attempt_is_next: [
    { plan: 'advance', what: 'an attempt left out', at: 10, events: set('advance_recorded', '/data/attemptId', 1) },
    { plan: 'fork', what: 'an attempt once more', at: 50, events: set('advance_recorded', '/data/attemptId', 0) },
  ],
  output_is_new: [
    {
      plan: 'checkpoint',
      what: 'an output again',
      at: 48,
      events: set('node_output_appended', '/data/outputId', notesOfSecond),
    },
  ],
  supersede_same_node_and_channel: [
    {
      plan: 'correction',
      what: 'an unknown output',
      claim: sameNodeAndChannel,
      at: 49,
      events: set('node_output_appended', '/data/supersedesOutputId', 'out_0000000000000000'),
    },
    {
      plan: 'correction',
      what: 'another node',
      claim: sameNodeAndChannel,
      at: 49,
      events: set('node_output_appended', '/scope/nodeId', ROOT),
    },
    {
      plan: 'correction',
      what: 'another channel',
      claim: sameNodeAndChannel,
      at: 49,
      events: set('node_output_appended', '/data/supersedesOutputId', artifactOfSecond),
    },
  ],
  gap_is_new: [{ plan: 'advance', what: 'a gap again', at: 28, events: (events) => repeatGap(events) }],
  resolved_gap_in_run: [
    {
      plan: 'retry',
      what: 'a gap that is not there',
      at: 45,
      events: set('gap_recorded', '/data/resolution/resolvesGapId', 'gap_0000000000000000'),
    },
  ],
};

test.each(PLAN_NAMES)('the plan "%s" of the example session fits its history', (name) => {
  expect(checkPlanIntegrity(historyBefore(name), PLANS[name].events)).toEqual(ok(undefined));
});

test.each(breachCases(BREACHES))('%s is broken by %s', (rule, _, breach) => {
  breach.claim?.();
  expect(checkPlanIntegrity(historyBefore(breach.plan), brokenEvents(breach))).toEqual(
    err({ code: 'integrity_violation', rule, eventIndex: breach.at }),
  );
});

test('events may refer to earlier events of their plan, not to later ones', () => {
  const events = PLANS.start.events.toSorted(
    (a, b) => Number(a.kind === 'node_created') - Number(b.kind === 'node_created'),
  );
  expect(checkPlanIntegrity(historyBefore('start'), events)._unsafeUnwrapErr().rule).toBe('scope_node_known');
});

test('a run cannot resolve a gap of another run', () => {
  const history = historyBefore('retry');
  const elsewhere = { ...history, gap: (id: GapId) => history.gap(id) && { runId: OTHER_RUN } };
  expect(checkPlanIntegrity(elsewhere, PLANS.retry.events)).toEqual(
    err({ code: 'integrity_violation', rule: 'resolved_gap_in_run', eventIndex: 45 }),
  );
});

test.each(['intentional_fork', 'idempotent_replay'])('an edge that says %s is read, at a tip or not', (cause) => {
  enforces('edge_cause_kind_closed', 'edge_cause_intentional_fork_only_asked');
  for (const plan of ['advance', 'fork'] as const) {
    const events = set('edge_created', '/data/cause/kind', cause)(PLANS[plan].events) as readonly SessionEvent[];
    expect(checkPlanIntegrity(historyBefore(plan), events)).toEqual(ok(undefined));
  }
});
