import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { PRESETS } from '../../src/core/log/autonomy.ts';
import { EVENT_KINDS, type SessionEvent } from '../../src/core/log/event.ts';
import type { ExecutionSnapshot } from '../../src/core/log/execution-snapshot.ts';
import { planNovelty, sealPlan } from '../../src/core/log/plan/append-plan.ts';
import { checkPlanIntegrity } from '../../src/core/log/plan/plan-integrity.ts';
import { applyEvent, emptySessionView, foldEvents, knownGraph } from '../../src/core/views/session-view.ts';
import { enforces } from '../enforces.ts';
import { HASHES } from '../examples/sha256.ts';
import { drawnSeed, isLong } from '../volume.ts';
import { naiveViews } from './naive-views.ts';
import { type RandomHistory, randomHistory } from './random-history.ts';
import { type SummarySources, viewSummary } from './view-summary.ts';

/** A check takes an eighth of the histories, a long one all of them. */
const EIGHTH = 125;
const FIRST_SEED = isLong ? 1 : 1 + (drawnSeed() % 8) * EIGHTH;
const HISTORIES = isLong ? 8 * EIGHTH : EIGHTH;
const LEGAL_HISTORIES = HISTORIES / 5;

describe('random histories', () => {
  test('random histories are valid: every event parses, every plan seals and fits', { timeout: 60_000 }, () => {
    const kinds = new Set<string>();
    for (const { seed, plans } of histories(LEGAL_HISTORIES)) {
      const view = emptySessionView();
      for (const plan of plans) {
        // Sealing parses every event in full.
        const found = [sealPlan(plan, view.nextEventIndex, HASHES), checkPlanIntegrity(knownGraph(view), plan.events)];
        expect(
          found.filter((result) => result.isErr()),
          `seed ${seed}`,
        ).toEqual([]);
        expect(planNovelty(plan, view.knownKeys), `seed ${seed}`).toEqual({ kind: 'new' });
        for (const event of plan.events) {
          kinds.add(event.kind);
          applyEvent(view, event);
        }
      }
    }
    expect([...kinds].sort()).toEqual([...EVENT_KINDS].sort());
  });

  test('random histories contain forks, retries after blocks, several runs, corrections and late facts', {
    timeout: 60_000,
  }, () => {
    const counts = { forks: 0, blocks: 0, blockedAgain: 0, retries: 0, checkpoints: 0, runs: 0, complete: 0 };
    const more = { superseded: 0, resolved: 0, late: 0 };
    for (const { events, plans, snapshots } of histories(HISTORIES)) {
      const { nodes, runs } = foldEvents(events).graph;
      counts.runs += runs.size - 1;
      for (const { kind, parentNodeId, edge, snapshotRef } of nodes.values()) {
        const parentKind = parentNodeId === null ? undefined : nodes.get(parentNodeId)?.kind;
        if (edge?.cause.kind === 'non_tip_advance') counts.forks += 1;
        if (kind === 'checkpoint') counts.checkpoints += 1;
        if (kind === 'blocked_attempt') counts.blocks += 1;
        if (kind === 'blocked_attempt' && parentKind === 'blocked_attempt') counts.blockedAgain += 1;
        if (kind === 'step' && parentKind === 'blocked_attempt') counts.retries += 1;
        if (snapshots.get(snapshotRef)?.enginePayload.state.kind === 'complete') counts.complete += 1;
      }
      for (const event of events) {
        if (event.kind === 'node_output_appended' && event.data.supersedesOutputId !== undefined) more.superseded += 1;
        if (event.kind === 'gap_recorded' && event.data.resolution.kind === 'resolves') more.resolved += 1;
      }
      more.late += plans.filter((plan) => plan.events.every(({ kind }) => kind !== 'node_created')).length;
    }
    console.log(`${HISTORIES} histories from seed ${FIRST_SEED}: ${JSON.stringify({ ...counts, ...more })}`);
    for (const count of Object.values({ ...counts, ...more })) expect(count).toBeGreaterThan(HISTORIES / 10);
  });
});

describe('views', () => {
  test('views match their definitions after every event, however the events arrive', { timeout: 60_000 }, () => {
    enforces(
      'views_are_pure_and_deterministic',
      'view_preferred_tip',
      'view_run_status_rule',
      'view_tip_counts_step_descendants_only',
      'view_branch_is_derived',
      'view_gaps_by_ancestry',
      'view_gap_resolved_by_later_link',
      'view_capability_latest_wins',
      'view_preferences_by_ancestry',
      'view_context_folds_ancestry',
      'view_checkpoint_outputs_included',
      'view_blocked_drafts_left_out',
      'view_current_output',
    );
    let prefixes = 0;
    for (const history of histories(HISTORIES)) {
      const sources = sourcesOf(history);
      const view = emptySessionView();
      for (const event of history.events) {
        applyEvent(view, event);
        prefixes += 1;
        const expected = naiveViews(history.events.slice(0, view.nextEventIndex), sources);
        const actual = viewSummary(view, sources);
        // Comparing texts first is what keeps this test fast.
        if (JSON.stringify(actual) === JSON.stringify(expected)) continue;
        expect(actual, `seed ${history.seed}, event ${event.eventIndex}`).toEqual(expected);
      }
      // Asking changes nothing: this view was queried after every event, the other one never.
      const isSame = isDeepStrictEqual(view, foldEvents(history.events));
      expect(isSame, `seed ${history.seed}`).toBe(true);
    }
    console.log(`views: ${HISTORIES} histories, ${prefixes} prefixes, seeds from ${FIRST_SEED}`);
  });

  test('views do not depend on decision traces', () => {
    enforces('trace_never_needed_for_correctness');
    for (const history of histories(100)) {
      const sources = sourcesOf(history);
      const withTrace = viewSummary(foldEvents(history.events), sources);
      const without = viewSummary(foldEvents(history.events.map(withoutTrace)), sources);
      const nodes = withTrace.nodes.map((node) => ({ ...node, trace: [] }));
      expect(without, `seed ${history.seed}`).toEqual({ ...withTrace, nodes });
    }
  });

  test('views do not depend on a clock', () => {
    enforces('event_index_is_the_only_order');
    for (const history of histories(100)) {
      const sources = sourcesOf(history);
      const backwards = history.events.map((event) => ({ ...event, at: 1_000_000 - event.eventIndex }));
      const expected = viewSummary(foldEvents(history.events), sources);
      expect(viewSummary(foldEvents(backwards), sources), `seed ${history.seed}`).toEqual(expected);
    }
  });
});

function* histories(count: number): Iterable<RandomHistory> {
  for (let i = 0; i < count; i++) {
    const seed = FIRST_SEED + i;
    yield randomHistory({ seed, eventsMin: 20 + (seed % 40) });
  }
}

function sourcesOf({ snapshots }: RandomHistory): SummarySources {
  return { snapshotOf: (ref) => snapshots.get(ref) as ExecutionSnapshot, defaults: PRESETS.guided };
}

/** The same touch on the same node, without a word about why. */
function withoutTrace(event: SessionEvent): SessionEvent {
  if (event.kind !== 'decision_trace_appended') return event;
  return { ...event, kind: 'divergence_recorded', data: {} } as unknown as SessionEvent;
}
