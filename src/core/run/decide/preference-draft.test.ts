import { describe, expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { compiled } from '../../../../test/examples/compiled.ts';
import { RUN, SECOND } from '../../../../test/examples/ids.ts';
import { sha256 } from '../../../../test/examples/sha256.ts';
import { AUTONOMY, type Preferences, RISK_POLICY } from '../../log/autonomy.ts';
import { preferenceChangeId } from '../../log/operation/derived-ids.ts';
import { preferenceDrafts, preferenceWarnings } from './preference-draft.ts';

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
  it('are warned about by the order of the autonomies', () => {
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

  it('are warned about by the order of the risk policies', () => {
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

  it('are told with both values, and not at all where nothing is recommended', () => {
    const workflow = recommending({ recommendedAutonomy: 'guided', recommendedRiskPolicy: 'conservative' });
    expect(preferenceWarnings(workflow, auto)).toEqual([
      { code: 'exceeds_recommended_autonomy', recommended: 'guided', effective: 'full_auto_never_stop' },
      { code: 'exceeds_recommended_risk_policy', recommended: 'conservative', effective: 'balanced' },
    ]);
    expect(preferenceWarnings(recommending(), auto)).toEqual([]);
  });
});

describe('a change of preferences', () => {
  it('is written down with what changes, what is in force and its warnings', () => {
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

  it('is nothing where nothing changes, and the whole where nothing was before', () => {
    expect(preferenceDrafts({ before: auto, effective: { ...auto }, source: 'user' }, at, sha256)).toEqual([]);
    const [draft] = preferenceDrafts({ before: undefined, effective: guided, source: 'system' }, at, sha256);
    expect(draft?.data.delta).toEqual([
      { key: 'autonomy', value: 'guided' },
      { key: 'riskPolicy', value: 'conservative' },
    ]);
  });
});
