/** A mistake that can be fixed automatically. */
type Mistake = { readonly words: string; readonly failing: object };

const workflow = (fields: object) => ({
  id: 'team.example',
  name: 'Example',
  description: 'Shows one mistake.',
  steps: [step({})],
  ...fields,
});
const step = (fields: object) => ({ id: 'do', title: 'Do it', prompt: 'Do it.', ...fields });
const isOpen = { id: 'is-open', kind: 'context', var: 'status', equals: 'open' };
const quality = {
  id: 'quality',
  purpose: 'Whether it is good.',
  dimensions: [{ id: 'depth', purpose: 'How deep.', levels: ['shallow', 'deep'] }],
};

/** One for each code that a fix may be offered for; the fixed file is made from it. */
export const FIX_EXAMPLES: { readonly [code: string]: Mistake } = {
  bad_id: {
    words: 'An id with characters that ids do not have; whatever refers to it is renamed, too.',
    failing: workflow({ steps: [step({ id: 'First Step' })] }),
  },
  bad_text: {
    words: 'Half a character, or a key with characters that cannot be seen.',
    failing: workflow({ steps: [step({ title: 'Do it\ud800' })] }),
  },
  hidden_character: {
    words: 'A text with characters that cannot be seen, or that change the direction of text.',
    failing: workflow({ steps: [step({ title: 'Do\u200b it' })] }),
  },
  body_not_found: {
    words: 'A loop whose body is a step that does not exist.',
    failing: workflow({
      steps: [
        step({ id: 'check' }),
        {
          id: 'rounds',
          type: 'loop',
          title: 'Rounds',
          loop: { type: 'for', count: 2, maxIterations: 2 },
          body: 'chekc',
        },
      ],
    }),
  },
  loop_without_limit: {
    words: 'A loop that says how often it goes round, but not how often at most.',
    failing: workflow({
      steps: [{ id: 'rounds', type: 'loop', title: 'Rounds', loop: { type: 'for', count: 2 }, body: [step({})] }],
    }),
  },
  setting_unused: {
    words: 'A setting that this kind of loop does not have.',
    failing: workflow({
      steps: [
        {
          id: 'rounds',
          type: 'loop',
          title: 'Rounds',
          loop: { type: 'for', count: 2, items: 'files', maxIterations: 2 },
          body: [step({})],
        },
      ],
    }),
  },
  unknown_argument: {
    words: 'An argument that the template does not have.',
    failing: workflow({
      steps: [
        {
          id: 'review',
          templateCall: {
            templateId: 'wr.templates.routine.design-review',
            args: { delivrableName: 'the plan above' },
          },
        },
      ],
    }),
  },
  unknown_assessment: {
    words: 'An assessment that is not declared.',
    failing: workflow({ assessments: [quality], steps: [step({ assessmentRefs: ['qualty'] })] }),
  },
  unknown_condition: {
    words: 'A condition that is not declared.',
    failing: workflow({
      conditions: [isOpen],
      steps: [step({ runCondition: { kind: 'condition_ref', conditionId: 'is-opne' } })],
    }),
  },
  unknown_contract: {
    words: 'A contract that does not exist.',
    failing: workflow({ steps: [step({ outputContract: { contractRef: 'wr.contracts.finding' } })] }),
  },
  unknown_feature: {
    words: 'A feature that does not exist.',
    failing: workflow({ features: ['wr.features.mode_guidence'] }),
  },
  unknown_function: {
    words: 'A function that is not defined.',
    failing: workflow({
      functionDefinitions: [{ name: 'summary', definition: 'Three sentences.' }],
      steps: [step({ functionReferences: ['sumary()'] })],
    }),
  },
  unknown_key: {
    words: 'A key that means nothing, and comes close to one that does.',
    failing: workflow({ metaGuidence: ['Be brief.'] }),
  },
  unknown_level: {
    words: 'A level that the assessment does not have.',
    failing: workflow({
      assessments: [quality],
      steps: [
        step({
          assessmentRefs: ['quality'],
          assessmentConsequences: [
            { when: { anyEqualsLevel: 'shalow' }, effect: { kind: 'require_followup', guidance: 'Look deeper.' } },
          ],
        }),
      ],
    }),
  },
  unknown_operator: {
    words: 'An operator that does not exist.',
    failing: workflow({ steps: [step({ runCondition: { var: 'status', equls: 'open' } })] }),
  },
  unknown_ref: {
    words: 'A bundled text that does not exist.',
    failing: workflow({
      steps: [{ id: 'do', title: 'Do it', promptBlocks: { goal: [{ kind: 'ref', refId: 'wr.refs.memory_usge' }] } }],
    }),
  },
  unknown_slot: {
    words: 'An extension point that is not declared.',
    failing: workflow({
      extensionPoints: [{ slotId: 'product', purpose: 'What it is about.', default: 'the program' }],
      steps: [step({ prompt: 'Look at {{wr.bindings.prodct}}.' })],
    }),
  },
  unknown_template: {
    words: 'A template that does not exist.',
    failing: workflow({
      steps: [
        {
          id: 'review',
          templateCall: { templateId: 'wr.templates.routine.desing-review', args: { deliverableName: 'the plan' } },
        },
      ],
    }),
  },
  wrong_kind: {
    words: 'An extension point for a routine that is bound to something else.',
    failing: workflow({
      extensionPoints: [
        {
          slotId: 'review',
          purpose: 'How to review.',
          default: 'wr.templates.routine.desing-review',
          acceptedKinds: ['routine'],
        },
      ],
      steps: [step({ prompt: 'Review it with {{wr.bindings.review}}.' })],
    }),
  },
  wrong_scope: {
    words: 'A function that says it is visible elsewhere than where it stands.',
    failing: workflow({
      functionDefinitions: [{ name: 'summary', definition: 'Three sentences.', scope: 'step' }],
      steps: [step({ functionReferences: ['summary()'] })],
    }),
  },
  wrong_type: {
    words:
      'A number or a truth value in quotation marks, a contract without its object, or a condition as an expression.',
    failing: workflow({ steps: [step({ outputContract: 'wr.contracts.findings' })] }),
  },
  wrong_value: {
    words: 'A word that is not among those to choose from.',
    failing: workflow({ recommendedPreferences: { recommendedAutonomy: 'guidet' } }),
  },
};

/** A fix that goes by where the file lies, which only the list of all files knows. */
export const PLACED_FIX_EXAMPLE = {
  code: 'reserved_namespace',
  words: 'An id that belongs to the bundle; it becomes one of the place where the file lies.',
  failing: workflow({ id: 'wr.review' }),
  passing: workflow({ id: 'project.review' }),
};
