import { describe, expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { compiled } from '../../../../test/examples/compiled.ts';
import { RUN, SECOND, SESSION } from '../../../../test/examples/ids.ts';
import { sha256 } from '../../../../test/examples/sha256.ts';
import { AUTONOMY, type Preferences, RISK_POLICY } from '../../log/autonomy.ts';
import { TRACE_EVENTS_MAX } from '../../log/budgets.ts';
import { parseEvent, placeEvents } from '../../log/event.ts';
import type { TraceEntry } from '../../log/events/graph-events.ts';
import { preferenceChangeId } from '../../log/operation/operation-drafts.ts';
import { preferenceDrafts, preferenceWarnings, walkDrafts } from './drafts.ts';

const node = { runId: RUN, nodeId: SECOND };
const entries = (count: number): readonly TraceEntry[] => [
  ...Array.from({ length: count - 1 }, (_, n) => ({ kind: 'evaluated_condition' as const, summary: `Entry ${n}.` })),
  { kind: 'selected_next_step', summary: 'Chosen.' },
];
const traced = (count: number) =>
  walkDrafts(node, { skipped: [], trace: entries(count) }, sha256).flatMap((draft) =>
    draft.kind === 'decision_trace_appended' ? [draft.data.entries] : [],
  );

it('a trace is kept whole as long as there is room for it', () => {
  const full = TRACE_EVENTS_MAX * 25;
  expect(traced(full)).toHaveLength(TRACE_EVENTS_MAX);
  expect(traced(full).flat()).toEqual(entries(full));
});

it('a trace that is too long keeps its beginning and its end, and says what it left out', () => {
  const trace = traced(5_000);
  const kept = (TRACE_EVENTS_MAX - 1) * 25;
  expect(trace).toHaveLength(TRACE_EVENTS_MAX);
  expect(trace.flat()).toEqual([
    ...entries(5_000).slice(0, kept),
    { kind: 'evaluated_condition', summary: `${5_000 - kept - 1} more entries were left out of this trace.` },
    { kind: 'selected_next_step', summary: 'Chosen.' },
  ]);
  const drafts = walkDrafts(node, { skipped: [], trace: entries(5_000) }, sha256);
  const events = placeEvents(drafts, { sessionId: SESSION, firstEventIndex: 0 }, sha256);
  expect(events.filter((event) => parseEvent(event).isErr())).toEqual([]);
});

const guided: Preferences = { autonomy: 'guided', riskPolicy: 'conservative' };
const auto: Preferences = { autonomy: 'full_auto_never_stop', riskPolicy: 'balanced' };
const at = { runId: RUN, nodeId: SECOND, warnings: [] };

/** A workflow that recommends these, where it recommends anything. */
function recommending(recommendedPreferences?: object) {
  const steps = [{ id: 'a', title: 'A', prompt: 'Do it.' }];
  const own = recommendedPreferences === undefined ? {} : { recommendedPreferences };
  return compiled({ id: 'wr.recommending', name: 'R', description: 'Recommends.', steps, ...own });
}

describe('preferences beyond what a workflow recommends', () => {
  it('preferences beyond what a workflow recommends are warned about by the order of the autonomies', () => {
    enforces('recommendation_orders');
    expect(AUTONOMY).toEqual(['guided', 'full_auto_stop_on_user_deps', 'full_auto_never_stop']);
    const warned = AUTONOMY.map((recommended) =>
      AUTONOMY.filter((autonomy) => {
        const workflow = recommending({ recommendedAutonomy: recommended });
        return preferenceWarnings(workflow, { ...guided, autonomy }).length > 0;
      }),
    );
    expect(warned).toEqual([AUTONOMY.slice(1), AUTONOMY.slice(2), []]);
  });

  it('preferences beyond what a workflow recommends are warned about by the order of the risk policies', () => {
    enforces('recommendation_orders');
    expect(RISK_POLICY).toEqual(['conservative', 'balanced', 'aggressive']);
    const warned = RISK_POLICY.map((recommended) =>
      RISK_POLICY.filter((riskPolicy) => {
        const workflow = recommending({ recommendedRiskPolicy: recommended });
        return preferenceWarnings(workflow, { ...guided, riskPolicy }).length > 0;
      }),
    );
    expect(warned).toEqual([RISK_POLICY.slice(1), RISK_POLICY.slice(2), []]);
  });

  it('a warning about preferences has both values, and none is given where nothing is recommended', () => {
    const workflow = recommending({ recommendedAutonomy: 'guided', recommendedRiskPolicy: 'conservative' });
    expect(preferenceWarnings(workflow, auto)).toEqual([
      { code: 'exceeds_recommended_autonomy', recommended: 'guided', effective: 'full_auto_never_stop' },
      { code: 'exceeds_recommended_risk_policy', recommended: 'conservative', effective: 'balanced' },
    ]);
    expect(preferenceWarnings(recommending(), auto)).toEqual([]);
  });
});

describe('a change of preferences', () => {
  it('a change of preferences is recorded with the delta, the effective values and its warnings', () => {
    enforces('recommendation_warning_durable');
    const warnings = preferenceWarnings(recommending({ recommendedAutonomy: 'guided' }), auto);
    const change = { before: { ...auto, autonomy: 'guided' }, effective: auto, source: 'user' } as const;
    expect(preferenceDrafts(change, { ...at, warnings }, sha256)).toEqual([
      {
        kind: 'preferences_changed',
        scope: { runId: RUN, nodeId: SECOND },
        data: {
          changeId: preferenceChangeId({ nodeId: SECOND, place: 0 }, sha256),
          source: 'user',
          delta: [{ key: 'autonomy', value: 'full_auto_never_stop' }],
          effective: auto,
          warnings,
        },
      },
    ]);
  });

  it('unchanged preferences record nothing, and the first ones are recorded in full', () => {
    expect(preferenceDrafts({ before: auto, effective: { ...auto }, source: 'user' }, at, sha256)).toEqual([]);
    const [draft] = preferenceDrafts({ before: undefined, effective: guided, source: 'system' }, at, sha256);
    expect(draft?.data.delta).toEqual([
      { key: 'autonomy', value: 'guided' },
      { key: 'riskPolicy', value: 'conservative' },
    ]);
  });
});
