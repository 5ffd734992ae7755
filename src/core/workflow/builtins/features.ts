import * as z from 'zod';
import type { JsonObject } from '../../json/json-value.ts';
import { registry } from './contracts.ts';
import { inStableOrder, type Shape, shapeOfSchema } from './shape.ts';

/** Something that a workflow can switch on. It only adds texts, so its whole effect can be read beforehand. */
export type Feature = {
  readonly featureId: string;
  /** What it adds, for authors. */
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

const rule = (text: string): FeatureEffect => ({ kind: 'standing_rule', text });
const guidance = (steps: StepSelector, text: string): FeatureEffect => ({ kind: 'step_guidance', steps, text });

const DECLARATIONS: readonly Declaration[] = [
  {
    name: 'capabilities',
    purpose: 'Has the agent try a capability, report it, and continue without it where it is missing.',
    effects: [
      rule(
        'To find out whether you can delegate or browse the web, try it; do not assume. You may then report the result in an artifact of kind wr.capability_observation, with capability ("delegation" or "web_browsing") and status ("available" or "unavailable"). If a capability is optional for a step and you do not have it, do the work without it and say so in your notes.',
      ),
      guidance(
        'delegating',
        'Try to delegate once. If that fails, report delegation as unavailable in a wr.capability_observation artifact and do the parts yourself, each separately, before you combine them.',
      ),
    ],
  },
  {
    name: 'durable_recap_guidance',
    purpose: 'Explains how to write notes that let another chat continue the work.',
    effects: [
      rule(
        'Notes outlive this chat. For each step write what you did, what you decided and why, what you produced (paths, names, numbers) and what is open. Write about this step only: earlier notes are kept and will be shown again. Write so that someone who saw nothing else can continue.',
      ),
    ],
  },
  {
    name: 'memory_context',
    purpose:
      'Has the agent query its memory at the first step and store what it learned at the last, if it has a memory.',
    effects: [
      guidance(
        'first',
        'If you have a memory tool, ask it about this project and this goal before you begin. Check what it says against the files: memory may be out of date. Note what you used from it. Without such a tool, continue.',
      ),
      guidance(
        'last',
        'If you have a memory tool, store in it what the next task in this project will need: decisions with their reasons, traps, where things are. Do not store secrets or progress reports. Without such a tool, continue.',
      ),
    ],
  },
  {
    name: 'mode_guidance',
    purpose:
      'Explains what the agent may decide alone in each mode, and reminds it on steps that ask for confirmation.',
    effects: [
      rule(
        'Every reply names the mode. In guided mode, ask the user wherever a step asks for confirmation. In a full-auto mode, decide as the user most likely would and write the assumption in your notes. Change the mode only when the user asks you to.',
      ),
      guidance(
        'with_confirmation',
        'In guided mode, the user confirms this step. In a full-auto mode, decide yourself, unless the step says that a person must approve. Note what you assumed and what would change your mind.',
      ),
    ],
  },
  {
    name: 'output_contracts',
    purpose: 'Explains how to fill in artifacts honestly, on steps that require one.',
    effects: [
      guidance(
        'with_contract',
        'Send the artifact as an object in output.artifacts, not as text in the notes, and use the field names as given. Fill it from what you did in this step. If a fact is missing, find it, or say in a text field that it is missing; do not invent a value to pass the check.',
      ),
    ],
  },
  {
    name: 'subagent_guidance',
    purpose: 'Explains how to brief, start and check subagents.',
    config: {
      schema: z.strictObject({
        maxParallel: z.int().min(1).max(16).optional().describe('how many subagents may work at once'),
      }),
      defaults: { maxParallel: 3 },
    },
    effects: [
      rule(
        'A subagent knows only what you send it: give it the goal, the facts, the limits and the form of its answer. Start independent subagents at the same time, at most {maxParallel} at once, with your own tool for subagents. Only you call continue_workflow for this run.',
      ),
      guidance(
        'delegating',
        'Read every answer critically, check claims that matter at the source, and resolve contradictions yourself before you report the step. At most {maxParallel} subagents at once.',
      ),
    ],
  },
];

export const features = registry<Feature>(
  DECLARATIONS.map(({ name, purpose, effects, config }) => ({
    featureId: `wr.features.${name}`,
    purpose,
    effects,
    ...(config && { config: { shape: inStableOrder(shapeOfSchema(config.schema)), defaults: config.defaults } }),
  })),
  ({ featureId }) => featureId,
);
