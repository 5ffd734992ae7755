import type { Sha256 } from '../../json/canonical-bytes.ts';
import { AUTONOMY, type Autonomy, type Preferences, RISK_POLICY, type RiskPolicy } from '../../log/autonomy.ts';
import type { EventOf } from '../../log/event.ts';
import type { DraftOf } from '../../log/event-draft.ts';
import type { NodeId, RunId } from '../../log/ids.ts';
import { preferenceChangeId } from '../../log/operation/derived-ids.ts';
import type { CompiledWorkflow } from '../../workflow/compiled/compiled-workflow.ts';

type Changed = EventOf<'preferences_changed'>['data'];

/** Preferences that go beyond what the workflow recommends. */
export type PreferenceWarning =
  | { readonly code: 'exceeds_recommended_autonomy'; readonly recommended: Autonomy; readonly effective: Autonomy }
  | {
      readonly code: 'exceeds_recommended_risk_policy';
      readonly recommended: RiskPolicy;
      readonly effective: RiskPolicy;
    };

export type PreferenceChange = {
  /** What was in force; `undefined` at the start of a run, where the baseline is written down whole. */
  readonly before: Preferences | undefined;
  readonly effective: Preferences;
  readonly source: Changed['source'];
};

/** Where preferences go beyond what the workflow recommends. They are never refused for it. */
export function preferenceWarnings(
  { recommended }: CompiledWorkflow,
  { autonomy, riskPolicy }: Preferences,
): readonly PreferenceWarning[] {
  const warnings: PreferenceWarning[] = [];
  if (exceeds(AUTONOMY, autonomy, recommended.autonomy)) {
    warnings.push({ code: 'exceeds_recommended_autonomy', recommended: recommended.autonomy, effective: autonomy });
  }
  if (exceeds(RISK_POLICY, riskPolicy, recommended.riskPolicy)) {
    warnings.push({
      code: 'exceeds_recommended_risk_policy',
      recommended: recommended.riskPolicy,
      effective: riskPolicy,
    });
  }
  return warnings;
}

type PreferencePlace = {
  readonly runId: RunId;
  readonly nodeId: NodeId;
  readonly warnings: readonly PreferenceWarning[];
  /** Tells changes at one node apart: 0 is that of the attempt which made it, later ones have their event's index. */
  readonly place?: number;
};

/** The record of a change, and none where nothing changes. */
export function preferenceDrafts(
  change: PreferenceChange,
  at: PreferencePlace,
  sha256: Sha256,
): readonly DraftOf<'preferences_changed'>[] {
  const { before, effective, source } = change;
  const { autonomy, riskPolicy } = effective;
  const delta: Changed['delta'] = [
    ...(before?.autonomy === autonomy ? [] : [{ key: 'autonomy' as const, value: autonomy }]),
    ...(before?.riskPolicy === riskPolicy ? [] : [{ key: 'riskPolicy' as const, value: riskPolicy }]),
  ];
  if (delta.length === 0) return [];
  const { runId, nodeId, warnings, place = 0 } = at;
  const data = {
    changeId: preferenceChangeId({ nodeId, place }, sha256),
    source,
    delta,
    effective: { autonomy, riskPolicy },
    ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
  };
  return [{ kind: 'preferences_changed', scope: { runId, nodeId }, data }];
}

function exceeds<Value extends string>(
  order: readonly Value[],
  value: Value,
  recommended: Value | undefined,
): recommended is Value {
  return recommended !== undefined && order.indexOf(value) > order.indexOf(recommended);
}
