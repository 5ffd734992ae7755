import { describe, expect, it } from 'vitest';
import { checkShape } from './check-artifact.ts';
import { type Feature, features, STEP_SELECTORS, type StepFacts, standingRules, stepGuidance } from './features.ts';

const subagentGuidance = features.find('wr.features.subagent_guidance') as Feature;

const PLAIN: StepFacts = {
  first: false,
  last: false,
  with_contract: false,
  with_confirmation: false,
  delegating: false,
};

const example: Feature = {
  featureId: 'wr.features.example',
  purpose: 'An example.',
  config: { shape: {}, defaults: { count: 3 } },
  effects: [
    { kind: 'standing_rule', text: 'At most {count} of {these}.' },
    { kind: 'step_guidance', steps: 'last', text: 'Stop after {count}.' },
  ],
};

describe('a feature', () => {
  it('a feature adds its rules with the values of its config or the defaults', () => {
    expect(standingRules(example)).toEqual(['At most 3 of {these}.']);
    expect(standingRules(example, { count: 5 })).toEqual(['At most 5 of {these}.']);
  });

  it('a feature adds its guidance only to the steps it is meant for', () => {
    expect(stepGuidance(example, PLAIN)).toEqual([]);
    expect(stepGuidance(example, { ...PLAIN, first: true })).toEqual([]);
    expect(stepGuidance(example, { ...PLAIN, last: true }, { count: 1 })).toEqual(['Stop after 1.']);
  });

  it('a feature fills every placeholder of its texts', () => {
    const everywhere = Object.fromEntries(STEP_SELECTORS.map((selector) => [selector, true])) as StepFacts;
    for (const feature of features.all) {
      const texts = [...standingRules(feature), ...stepGuidance(feature, everywhere)];
      expect(texts).toHaveLength(feature.effects.length);
      for (const text of texts) expect(text).not.toMatch(/[{}]/);
    }
  });

  it('subagent guidance takes a number of subagents and refuses an invalid one', () => {
    expect(standingRules(subagentGuidance, { maxParallel: 7 })[0]).toContain('at most 7 at once');
    const shape = subagentGuidance.config?.shape ?? {};
    expect(checkShape(shape, subagentGuidance.config?.defaults ?? {}).isOk()).toBe(true);
    expect(checkShape(shape, {}).isOk()).toBe(true);
    expect(checkShape(shape, { maxParallel: 0 })._unsafeUnwrapErr()).toEqual([
      { code: 'too_small', path: '/maxParallel', found: '0', allowed: 'whole number from 1 to 16' },
    ]);
    expect(
      checkShape(shape, { maxParallel: 17, parallel: 2 })
        ._unsafeUnwrapErr()
        .map(({ code }) => code),
    ).toEqual(['too_large', 'unknown_key']);
  });
});
