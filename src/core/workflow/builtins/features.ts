import type * as z from 'zod';
import type { JsonObject } from '../../json/json-value.ts';
import { inStableOrder, type Shape, shapeOfSchema } from './shape.ts';

/** Something that a workflow can switch on. All it does is to add texts, so its whole effect can be read beforehand. */
export type Feature = {
  readonly featureId: string;
  /** What it adds, told to authors. */
  readonly purpose: string;
  readonly effects: readonly FeatureEffect[];
  /** Absent where there is nothing to set. */
  readonly config?: FeatureConfig;
};

export type FeatureConfig = {
  readonly shape: Shape;
  /** Stands for every field that the author leaves out. */
  readonly defaults: JsonObject;
};

/** `{name}` in a text stands for the field of that name in the config. */
export type FeatureEffect =
  /** One more rule of the workflow: delivered on start and whenever an agent comes back. */
  | { readonly kind: 'standing_rule'; readonly text: string }
  /** One more line of guidance in the prompt of some steps. */
  | { readonly kind: 'step_guidance'; readonly steps: StepSelector; readonly text: string };

export const STEP_SELECTORS = ['first', 'last', 'with_contract', 'with_confirmation', 'delegating'] as const;
export type StepSelector = (typeof STEP_SELECTORS)[number];

/** What a selector looks at. */
export type StepFacts = { readonly [selector in StepSelector]: boolean };

type Declaration = {
  readonly name: string;
  readonly purpose: string;
  readonly effects: readonly FeatureEffect[];
  readonly config?: { readonly schema: z.ZodType; readonly defaults: JsonObject };
};

/** Makes the one object of a feature. */
export function defineFeature({ name, purpose, effects, config }: Declaration): Feature {
  return {
    featureId: `wr.features.${name}`,
    purpose,
    effects,
    ...(config && { config: { shape: inStableOrder(shapeOfSchema(config.schema)), defaults: config.defaults } }),
  };
}

/** The rules that a feature adds to a workflow. */
export function standingRules(feature: Feature, config: JsonObject = {}): readonly string[] {
  return feature.effects.flatMap((effect) =>
    effect.kind === 'standing_rule' ? [filled(feature, effect.text, config)] : [],
  );
}

/** The lines that a feature adds to the guidance of a step. */
export function stepGuidance(feature: Feature, step: StepFacts, config: JsonObject = {}): readonly string[] {
  return feature.effects.flatMap((effect) =>
    effect.kind === 'step_guidance' && step[effect.steps] ? [filled(feature, effect.text, config)] : [],
  );
}

function filled(feature: Feature, text: string, config: JsonObject): string {
  const values: JsonObject = { ...feature.config?.defaults, ...config };
  return text.replaceAll(/\{(\w+)\}/g, (hole, name: string) =>
    Object.hasOwn(values, name) ? `${values[name]}` : hole,
  );
}
