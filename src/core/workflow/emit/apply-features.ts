import { canonicalJson } from '../../json/canonical-json.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { checkShape } from '../builtins/check-artifact.ts';
import { type Feature, features, type StepFacts, standingRules, stepGuidance } from '../builtins/features.ts';
import { type CompilerFinding, unknownName } from '../diagnostics/diagnostic.ts';
import { type ExpandedEntry, mapSteps, type Originated, stepsOf } from '../expand/expanded.ts';
import type { FeatureUse } from '../format/workflow-fields.ts';

/** A feature in use, once, with its settings. One that only a called template uses says which. */
export type ActiveFeature = Originated<{ readonly feature: Feature; readonly config?: JsonObject }>;

/**
 * The features of a workflow in the order of their ids; the order in the file means nothing. Where templates bring one
 * as well, the settings in the file count.
 */
export function activeFeatures(
  uses: readonly Originated<FeatureUse>[],
  findings: CompilerFinding[],
): readonly ActiveFeature[] {
  const active = new Map<string, ActiveFeature>();
  for (const use of uses) {
    const feature = features.find(use.featureId);
    if (feature === undefined) {
      findings.push(unknownName('feature', use.idAt, { name: use.featureId, known: features.ids }));
    } else if (isConfigRight(feature, use, findings)) {
      const { originId } = use;
      const settings = { feature, ...settingsOf(feature, use), ...(originId === undefined ? {} : { originId }) };
      const other = active.get(feature.featureId);
      if (other === undefined) active.set(feature.featureId, settings);
      else if (!isSame(settings, other)) reportDifference(use, other, findings);
    }
  }
  return [...active.values()].sort((a, b) => (a.feature.featureId < b.feature.featureId ? -1 : 1));
}

function reportDifference(
  { featureId, originId, idAt }: Originated<FeatureUse>,
  other: ActiveFeature,
  findings: CompilerFinding[],
): void {
  if (originId === undefined) {
    const message = `"${featureId}" is listed twice with different settings. Keep one of them.`;
    findings.push({ code: 'duplicate_id', severity: 'error', at: idAt, message });
  } else if (other.originId !== undefined) {
    const message = `The templates "${other.originId}" and "${originId}" set "${featureId}" differently. List it in "features" with the settings you want.`;
    findings.push({ code: 'template_conflict', severity: 'error', at: idAt, message });
  }
}

/** Written out in full: leaving a setting at its default and saying so are the same. */
function settingsOf({ config }: Feature, use: FeatureUse): Pick<ActiveFeature, 'config'> {
  return config === undefined ? {} : { config: { ...config.defaults, ...use.config } };
}

function isSame(a: ActiveFeature, b: ActiveFeature): boolean {
  const [one, other] = [a, b].map(({ config }) => canonicalJson(config ?? {}));
  return one?.isOk() === true && other?.isOk() === true && one.value === other.value;
}

function isConfigRight(feature: Feature, use: FeatureUse, findings: CompilerFinding[]): boolean {
  if (use.config === undefined) return true;
  if (feature.config === undefined) {
    findings.push(wrong(`${use.at}/config`, `"${use.featureId}" has no settings. Remove "config".`));
    return false;
  }
  const checked = checkShape(feature.config.shape, use.config);
  if (checked.isOk()) return true;
  const first = checked.error[0];
  const message = `The config of "${use.featureId}" is wrong${first === undefined ? '' : ` at ${first.path}: ${first.allowed}`}.`;
  findings.push(wrong(`${use.at}/config${first?.path ?? ''}`, message));
  return false;
}

function wrong(at: string, message: string): CompilerFinding {
  return { code: 'wrong_value', severity: 'error', at, message };
}

export function featureRules(
  active: readonly ActiveFeature[],
): readonly { readonly text: string; readonly originId: string }[] {
  return active.flatMap(({ feature, config }) =>
    standingRules(feature, config).map((text) => ({ text, originId: feature.featureId })),
  );
}

/** Adds what features say to the guidance of the steps they concern. */
export function withFeatureGuidance(
  entries: readonly ExpandedEntry[],
  active: readonly ActiveFeature[],
): readonly ExpandedEntry[] {
  const steps = [...stepsOf(entries)];
  return mapSteps(entries, (step) => {
    const facts: StepFacts = {
      first: step === steps[0],
      last: step === steps.at(-1),
      with_contract: step.syntax.output !== undefined,
      with_confirmation: step.syntax.confirmation.kind !== 'none',
      delegating: step.purpose.kind === 'delegation',
    };
    const added = active.flatMap(({ feature, config }) => stepGuidance(feature, facts, config));
    return { ...step, syntax: { ...step.syntax, guidance: [...step.syntax.guidance, ...added] } };
  });
}
