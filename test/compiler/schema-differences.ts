import type { CompileResult } from '../../src/core/workflow/compile-workflow.ts';
import type { Diagnostic } from '../../src/core/workflow/diagnostics/diagnostic.ts';
import type { Json } from './json-leaves.ts';

/** Something that the compiler refuses and a JSON Schema cannot know. */
export type Difference = {
  readonly code: Diagnostic['code'];
  /** Where the code stands for other mistakes too: where this one is reported. */
  readonly at?: RegExp;
  readonly document: Json;
};

const STEP = { id: 'only', title: 'Only', prompt: 'Do it.' };
const workflow = (fields: { readonly [key: string]: Json }): Json => ({
  id: 'test.difference',
  name: 'Difference',
  description: 'Something only the compiler knows.',
  steps: [STEP],
  ...fields,
});
const step = (fields: { readonly [key: string]: Json }): Json => workflow({ steps: [{ ...STEP, ...fields }] });
const loop = (fields: { readonly [key: string]: Json }): Json =>
  workflow({ steps: [{ id: 'again', type: 'loop', loop: { maxIterations: 2, ...fields }, body: [STEP] }] });
const ASSESSMENT = { id: 'fit', dimensions: [{ id: 'size', levels: ['low', 'high'] }] };
const GREET = { name: 'greet', definition: 'Say hello.', parameters: [{ name: 'tone', enum: ['warm', 'cool'] }] };

/** All differences between the published schema and the compiler. Everything else must have one answer. */
export const DIFFERENCES: { readonly [why: string]: Difference } = {
  'a text whose bytes, not characters, are too many': {
    code: 'text_too_long',
    document: workflow({ name: 'é'.repeat(100) }),
  },
  'a misspelled key that would hold an agent back': {
    code: 'unknown_key',
    at: /\/\w*(?:ondition|onfirmat|ependency|ontract|riteria|Ref|heck|ssurance|et|oop)\w*$/,
    document: step({ requireConfirmatoin: true }),
  },
  'a reference to an unknown condition': {
    code: 'unknown_condition',
    document: step({ runCondition: { kind: 'condition_ref', conditionId: 'none' } }),
  },
  'conditions that refer to each other in a circle': {
    code: 'condition_cycle',
    document: workflow({ conditions: [{ id: 'a', kind: 'condition_ref', conditionId: 'a' }] }),
  },
  'a condition that leads to the decision about a loop from elsewhere': {
    code: 'loop_control_misplaced',
    document: workflow({
      conditions: [{ id: 'decided', kind: 'loop_control' }],
      steps: [{ ...STEP, runCondition: { kind: 'condition_ref', conditionId: 'decided' } }],
    }),
  },
  'a decision that would not end the loop': {
    code: 'wrong_value',
    at: /\/continueWhen$/,
    document: loop({ type: 'while', condition: { kind: 'loop_control', continueWhen: 'stop' } }),
  },
  'a loop without anything that ends it': { code: 'loop_without_control', document: loop({ type: 'while' }) },
  'a loop with more rounds than it may have': { code: 'loop_over_limit', document: loop({ type: 'for', count: 3 }) },
  'the body of a loop that is not a step beside it': {
    code: 'body_not_found',
    document: workflow({
      steps: [
        { ...STEP },
        { id: 'again', type: 'loop', loop: { type: 'for', count: 1, maxIterations: 2 }, body: 'none' },
      ],
    }),
  },
  'a name that is used twice': { code: 'duplicate_id', document: workflow({ steps: [STEP, STEP] }) },
  'a name with a meaning of its own': {
    code: 'reserved_key',
    document: step({ runCondition: { var: 'constructor', equals: 1 } }),
  },
  'a namespace that belongs to the bundle': { code: 'reserved_namespace', document: workflow({ id: 'wr.mine' }) },
  'a pattern that cannot be compiled': {
    code: 'bad_pattern',
    document: step({ runCondition: { var: 'a', matches: '(' } }),
  },
  'a reference to an unknown assessment': { code: 'unknown_assessment', document: step({ assessmentRefs: ['none'] }) },
  'a consequence of an unknown level': {
    code: 'unknown_level',
    document: workflow({
      assessments: [ASSESSMENT],
      steps: [
        {
          ...STEP,
          assessmentRefs: ['fit'],
          assessmentConsequences: [
            { when: { anyEqualsLevel: 'none' }, effect: { kind: 'require_followup', guidance: 'x' } },
          ],
        },
      ],
    }),
  },
  'a reference to an unknown function': {
    code: 'unknown_function',
    document: step({ functionReferences: ['none()'] }),
  },
  'a call of an unknown template': {
    code: 'unknown_template',
    document: workflow({ steps: [{ id: 'call', templateCall: { templateId: 'none.templates.routine.none' } }] }),
  },
  'a call without an argument that is needed': {
    code: 'missing_argument',
    document: workflow({ functionDefinitions: [GREET], steps: [{ ...STEP, functionCalls: [{ name: 'greet' }] }] }),
  },
  'a call with an unknown argument': {
    code: 'unknown_argument',
    document: workflow({
      functionDefinitions: [GREET],
      steps: [{ ...STEP, functionCalls: [{ name: 'greet', args: { tone: 'warm', x: '' } }] }],
    }),
  },
  'an argument that is not one of the choices': {
    code: 'wrong_value',
    at: /\/args\/\w+$/,
    document: workflow({
      functionDefinitions: [GREET],
      steps: [{ ...STEP, functionCalls: [{ name: 'greet', args: { tone: 'none' } }] }],
    }),
  },
  'an extension point that is not declared': {
    code: 'unknown_slot',
    document: step({ prompt: 'Use {{wr.bindings.none}}.' }),
  },
  'an extension point whose default is of another kind': {
    code: 'wrong_kind',
    document: workflow({ extensionPoints: [{ slotId: 'check', default: 'a text', acceptedKinds: ['routine'] }] }),
  },
  'fields of a check that need another field': {
    code: 'wrong_value',
    at: /\/checks\/\d+\/(?:tests|link|expect|atLeast)$/,
    document: step({ checks: [{ id: 'tests', run: 'npm test', minimum: 'observed', tests: ['test/**'] }] }),
  },
  'a list that the artifact of the step does not have': {
    code: 'wrong_value',
    at: /\/(?:accountsFor\/\d+\/in|collects\/\d+\/list)$/,
    document: step({ accountsFor: [{ context: 'criteria', prefix: 'AC', in: 'checks' }] }),
  },
  'a length that ends before it begins': {
    code: 'wrong_value',
    at: /\/validationCriteria(?:\/(?:\d+|and|or|not))*$/,
    document: step({ validationCriteria: [{ type: 'length', message: 'x', min: 2, max: 1 }] }),
  },
};

const LISTED = Object.values(DIFFERENCES);

/** Whether everything that the compiler refuses in a document is in the table. */
export function isDifference({ diagnostics }: CompileResult, document: Json): boolean {
  const isWide = /[^\0-\u007f]/.test(JSON.stringify(document));
  return diagnostics.every(({ severity, code, pointer }) => {
    // Bytes and characters differ only where a text has more than ASCII.
    if (code === 'text_too_long' || code === 'text_too_short') return isWide;
    return severity === 'warning' || LISTED.some((one) => one.code === code && (one.at?.test(pointer) ?? true));
  });
}
