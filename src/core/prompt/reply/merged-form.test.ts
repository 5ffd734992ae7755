import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attemptAt, type Given, retried } from '../../../../test/examples/step-attempt.ts';
import { isLong } from '../../../../test/volume.ts';
import { fillForm } from '../../author/fill-form.ts';
import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { blockerSchema } from '../../log/blockers.ts';
import { REASONS } from '../../log/reasons.ts';
import { withObservations } from '../../run/decide/judge-attempt.ts';
import type { FormOutput, Unmet } from '../../run/requirements/requirement.ts';
import { checkStep } from '../../run/requirements/step-requirements.ts';
import { contracts } from '../../workflow/builtins/contracts.ts';
import { mergedForm } from './footer.ts';

describe('the merged form', () => {
  it('the forms of all unmet requirements make one output without duplicates', () => {
    const unmet = (form?: Unmet['form']): Unmet => ({
      reason: 'contract_violation:missing_required_output',
      pointer: { kind: 'capability', capability: 'delegation' },
      message: 'M',
      suggestedFix: 'F',
      requirement: 'r',
      ...(form === undefined ? {} : { form }),
    });
    expect(mergedForm([])).toEqual({});
    expect(mergedForm([unmet()])).toEqual({});
    expect(
      mergedForm([
        unmet({ notesMarkdown: 'N', artifacts: [{ kind: 'a', x: 1, y: 2 }] }),
        unmet({ notesMarkdown: 'N', artifacts: [{ kind: 'b' }, { y: 2, x: 1, kind: 'a' }], context: { k: 1 } }),
        unmet({ context: { l: 2 } }),
      ]),
    ).toEqual({ notesMarkdown: 'N', artifacts: [{ y: 2, x: 1, kind: 'a' }, { kind: 'b' }], context: { k: 1, l: 2 } });
  });

  it('a form that is sent back unfilled meets nothing', () => {
    fc.assert(
      fc.property(file, given, (tried, sent) => {
        const attempt = attemptAt(tried, sent);
        const first = checkStep(attempt);
        const form = mergedForm(first.unmet);
        // A report about a capability is recorded with the blocked attempt.
        const facts = withObservations(attempt.facts, first.observations);
        const again = checkStep(retried({ ...attempt, facts }, form));
        const names = (found: readonly Unmet[]) => found.map(({ requirement }) => requirement);
        // Notes that were sent before are gone now, so a rule about what they must not say may hold.
        const kept = names(first.unmet).filter((name) => !name.startsWith('criteria:'));
        expect(names(again.unmet)).toEqual(expect.arrayContaining(kept));
        for (const { form: offered, message } of again.unmet) {
          if (offered?.notesMarkdown !== undefined || offered?.artifacts !== undefined) {
            expect(message).toMatch(/^Not filled in: |^Assessment /);
          }
        }
      }),
      { numRuns: isLong ? 300 : 100 },
    );
  });

  it('a form that is filled in meets everything that this step can meet', () => {
    fc.assert(
      fc.property(file, given, (tried, sent) => {
        const attempt = attemptAt(tried, sent);
        const first = checkStep(attempt);
        const again = checkStep(retried(attempt, fillForm(mergedForm(first.unmet), attempt)));
        expect(again.unmet.filter((unmet) => !isBeyondThisStep(unmet))).toEqual([]);
        // What has no form stays as it was; whatever has one is met.
        const left = first.unmet.filter(({ form }) => form === undefined || isForAPerson(form));
        expect(again.unmet.map(({ requirement }) => requirement)).toEqual(left.map(({ requirement }) => requirement));
      }),
      { numRuns: isLong ? 300 : 100 },
    );
  });

  it('the words and pointers of every unmet requirement fit into a blocker', () => {
    fc.assert(
      fc.property(file, given, (tried, sent) => {
        for (const { reason, pointer, message, suggestedFix } of checkStep(attemptAt(tried, sent)).unmet) {
          const blocker = { code: REASONS[reason].blocker, pointer, message, suggestedFix };
          expect(blockerSchema.safeParse(blocker).error?.issues).toBeUndefined();
        }
      }),
      { numRuns: 200 },
    );
  });
});

/** Nobody can show on an ordinary step that a capability is there, and no call answers for a person. */
function isBeyondThisStep({ requirement, form }: Unmet): boolean {
  return form === undefined ? requirement.startsWith('capability:') : isForAPerson(form);
}

/** Whether there is nothing to send: the answer comes on a channel that calls cannot reach. */
function isForAPerson(form: FormOutput): boolean {
  return Object.keys(form).length === 0;
}

const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });

const rule = fc.oneof(
  fc.constantFrom('risks', 'Tests', 'severity: high').map((value) => ({ type: 'contains', value, message: 'Say it.' })),
  fc
    .constantFrom('Finding \\d+:', '^## [A-Z]\\w+', '(?:a|b){3}', '[^\\s]+\\.ts:\\d{2,4}', 'end\\.$')
    .map((pattern) => ({ type: 'regex', pattern, message: 'Match it.' })),
  fc
    .constantFrom({ min: 1 }, { min: 250 }, { max: 260 })
    .map((bounds) => ({ type: 'length', ...bounds, message: 'Fit.' })),
  fc.constantFrom('TODO', 'and').map((value) => ({ not: { type: 'contains', value, message: 'Leave it out.' } })),
);
const criteria = fc.array(
  fc.oneof(
    rule,
    fc.array(rule, { minLength: 2, maxLength: 3 }).map((or) => ({ or })),
  ),
  {
    minLength: 1,
    maxLength: 4,
  },
);

const assessments = ['first', 'second'].map((id) => ({
  id,
  purpose: 'P',
  dimensions: [
    { id: 'a', purpose: 'P', levels: ['low', 'high'] },
    { id: 'b', purpose: 'P', levels: ['High', 'Mid', 'Low'], required: id === 'first' },
  ],
}));
const consequence = fc.constantFrom('low', 'HIGH').map((anyEqualsLevel) => ({
  when: { anyEqualsLevel, forAssessment: 'first' },
  effect: { kind: 'require_followup', guidance: 'Look again.' },
}));

const userDependency = fc.record(
  {
    reason: fc.constantFrom('needs_user_artifact', 'needs_user_approval'),
    contextKey: fc.constant('answer'),
    prompt: fc.constant('Well?'),
  },
  { requiredKeys: ['reason', 'prompt'] },
);

const step = fc
  .record({
    notesOptional: fc.boolean(),
    outputContract: maybe(fc.record({ contractRef: fc.constantFrom(...contracts.ids), required: fc.boolean() })),
    validationCriteria: maybe(criteria),
    assessmentRefs: fc.subarray(['first', 'second']),
    consequences: fc.array(consequence, { maxLength: 1 }),
    requireConfirmation: fc.constantFrom(undefined, { kind: 'human_approval' }, { kind: 'coordinator_eval' }),
    userDependency: maybe(userDependency),
  })
  .map(({ consequences, ...rest }) => ({
    id: 'work',
    title: 'W',
    prompt: 'P',
    ...rest,
    assessmentConsequences: rest.assessmentRefs.includes('first') ? consequences : [],
  }));

const around = (id: string, body: object, type: object) => ({
  id,
  type: 'loop',
  title: id,
  loop: { maxIterations: 3, ...type },
  body: [body],
});
const artifactLoop = {
  type: 'while',
  conditionSource: { kind: 'artifact_contract', contractRef: 'wr.contracts.loop_control' },
};

/** A workflow with a step of any kind, in no loop, one or two, and with capabilities of any weight. */
const file = fc
  .record({
    step,
    loops: fc.array(fc.constantFrom<object>(artifactLoop, { type: 'for', count: 2 }), { maxLength: 2 }),
    capabilities: fc.record(
      { delegation: fc.constantFrom('required', 'preferred'), web_browsing: fc.constantFrom('required', 'preferred') },
      { requiredKeys: [] },
    ),
  })
  .map(({ step: work, loops, capabilities }) => ({
    capabilities,
    assessments,
    steps: [
      loops.reduce<object>((body, type, depth) => around(`loop-${depth}`, body, type), work),
      { id: 'split', type: 'parallel', title: 'S', parallelDelegations: [{ workflowId: 'wr.other' }] },
    ],
  }));

const kinds = contracts.all.map(({ artifactKind }) => artifactKind);
const artifact: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.constantFrom(...contracts.all.map(({ example }) => example)),
  fc.record({
    kind: fc.constantFrom(...kinds),
    capability: fc.constantFrom('delegation', 'web_browsing'),
    status: fc.constantFrom('available', 'unavailable', 'unknown'),
  }),
  fc.record({
    kind: fc.constantFrom(...kinds, 'my.kind'),
    decision: fc.constantFrom('stop', 'go'),
    loopId: fc.constantFrom('loop-0', 'loop-1', 'x'),
  }),
  fc
    .record({ kind: maybe(fc.constantFrom(...kinds)), rest: fc.dictionary(fc.string(), fc.jsonValue()) })
    .map(({ kind, rest }): JsonObject => ({ ...(rest as JsonObject), ...(kind === undefined ? {} : { kind }) })),
);
const standing = fc.record({
  status: fc.constantFrom('available', 'unavailable', 'unknown'),
  grade: fc.constantFrom('strong', 'weak'),
} as const);

/** Anything that an agent may hand in, at the step itself, at one that delegates or at the first, which may be a probe. */
const given: fc.Arbitrary<Given> = fc
  .record({
    stepId: fc.constantFrom('work', 'work', 'split', undefined),
    notes: maybe(fc.constantFrom('', 'TODO', 'It is done, and the risks are small.')),
    artifacts: fc.array(artifact, { maxLength: 4 }),
    context: fc.dictionary(fc.constantFrom('answer', 'other'), fc.jsonValue() as fc.Arbitrary<JsonValue>),
    capabilities: fc.record({ delegation: standing, web_browsing: standing }, { requiredKeys: [] }),
    isRetry: fc.boolean(),
    hasNewNotes: fc.boolean(),
  })
  .map(({ notes, stepId, ...rest }) => ({
    ...rest,
    ...(notes === undefined ? {} : { notes }),
    ...(stepId === undefined ? {} : { stepId }),
  }));
