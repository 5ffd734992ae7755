import { defined } from '../../json/json-value.ts';
import { NON_ASSUMABLE_CHOICES, USER_ONLY_REASONS } from '../../log/reasons.ts';
import { contracts } from '../builtins/registry.ts';
import { condition } from './condition-fields.ts';
import { criteria } from './criteria-fields.ts';
import {
  built,
  choice,
  chosen,
  defaulted,
  flag,
  ignored,
  type Kind,
  lazy,
  list,
  located,
  needed,
  object,
  optional,
  text,
  texts,
  unplaced,
  type Value,
} from './field.ts';
import { functionCall, functionDefinitions, functionReferences } from './function-fields.ts';
import { ID_BYTES_MAX, PROMPT_BYTES_MAX } from './limits.ts';
import { loopKinds } from './loop-fields.ts';
import { promptBlocks } from './prompt-fields.ts';
import { headOf, STEP_HEAD, STEP_TYPES } from './step-head.ts';
import type { LoopStepOf } from './syntax.ts';
import { mapObject, mapTexts } from './text-walk.ts';

const localName = text(ID_BYTES_MAX, { use: 'label', form: 'plain_name', names: 'local' });
const prompt = text(PROMPT_BYTES_MAX, { use: 'prompt' });
const agentRole = text(1024, { use: 'text' });
const CLOSED = { isClosed: true } as const;

export const fragment = object('fragment', {
  id: needed(localName, 'Its name in this step.'),
  when: defaulted(condition, 'It is part of the prompt while this holds; always, if left out.', {
    otherwise: { kind: 'always' },
  }),
  text: needed(text(4096, { use: 'prompt' }), 'The text.'),
});

const OUTPUT = {
  required: defaulted(flag, 'Whether the artifact must be handed in.', { as: 'isRequired', otherwise: true }),
  hints: defaulted(list(text(512, { use: 'text' })), 'Advice about it, which is not checked.', { otherwise: [] }),
};
const contractRef = text(ID_BYTES_MAX, { use: 'label', known: contracts.ids });

export const outputContract = object('outputContract', {
  contractRef: needed(contractRef, 'One of the [contracts](builtins.md).'),
  ...OUTPUT,
});

export const output = object(
  'output',
  {
    contractRef: optional(contractRef, 'One of the [contracts](builtins.md). Without one, the hints are guidance.'),
    ...OUTPUT,
  },
  {
    rules: [
      {
        of: ['contractRef', 'hints'],
        none: () => ({ code: 'missing_field', message: '"contractRef" is missing here. Add it.' }),
      },
    ],
  },
);

const OUTPUTS = {
  outputContract: optional(outputContract, 'The artifact that the step requires.'),
  output: optional(output, 'The same in the other spelling.'),
};
const oneOutput = {
  of: ['outputContract', 'output'],
  more: {
    code: 'wrong_value',
    message: () => '"output" and "outputContract" mean the same. Remove one of them.',
  },
} as const;

export type OutputSyntax = Value<typeof outputContract>;

type OutputsRead = { readonly outputContract?: OutputSyntax; readonly output?: Value<typeof output> };

/** One spelling of what a step must hand in. Hints without a contract are guidance. */
function outputOf({ outputContract: published, output: design }: OutputsRead): StepOutput {
  if (published !== undefined) return { output: published, hints: [] };
  const { contractRef: named, ...rest } = design ?? { hints: [] };
  return named === undefined || !('at' in rest)
    ? { hints: rest.hints }
    : { output: { ...rest, contractRef: named }, hints: [] };
}

type StepOutput = { readonly output?: OutputSyntax; readonly hints: readonly string[] };

export const consequenceWhen = object(
  'consequenceWhen',
  {
    anyEqualsLevel: needed(text(ID_BYTES_MAX, { use: 'label' }), 'Any dimension has this level.'),
    forAssessment: optional(text(ID_BYTES_MAX, { use: 'label', refersTo: ['assessment'] }), 'Only of this assessment.'),
  },
  CLOSED,
);

export const consequenceEffect = object(
  'consequenceEffect',
  {
    kind: needed(choice(['require_followup']), 'The step stays pending.'),
    guidance: needed(text(512, { use: 'text' }), 'What to do then.'),
  },
  CLOSED,
);

export const consequence = object(
  'consequence',
  {
    when: needed(consequenceWhen, 'By which level.'),
    effect: needed(consequenceEffect, 'What follows.'),
  },
  CLOSED,
);

export type ConsequenceSyntax = {
  readonly at: string;
  readonly anyEqualsLevel: string;
  readonly forAssessment?: string;
  readonly guidance: string;
};

const consequenceKind: Kind<ConsequenceSyntax> = built(
  consequence,
  ({ at, when, effect }) => ({
    at,
    anyEqualsLevel: when.anyEqualsLevel,
    guidance: effect.guidance,
    ...defined({ forAssessment: when.forAssessment }),
  }),
  (read, change) => {
    const inWhen = mapObject(consequenceWhen.data, { ...read, at: read.at }, change);
    const { guidance } = mapObject(consequenceEffect.data, { guidance: read.guidance }, { ...change, at: read.at });
    return { ...inWhen, guidance } as ConsequenceSyntax;
  },
);

export const userDependency = object(
  'userDependency',
  {
    reason: needed(choice(USER_ONLY_REASONS), 'Why only the user can give it.'),
    choiceKind: optional(
      choice(NON_ASSUMABLE_CHOICES),
      'For `needs_user_choice`: what kind of choice may not be assumed.',
    ),
    contextKey: optional(
      text(ID_BYTES_MAX, { use: 'label', form: 'context_key', names: 'context_key', refersTo: ['context_key'] }),
      'The context value that the answer goes into. The step then waits until it is set.',
    ),
    prompt: needed(text(1024, { use: 'text' }), 'The question.'),
  },
  {
    ...CLOSED,
    rules: [
      {
        when: ['reason', 'needs_user_choice'],
        needs: 'choiceKind',
        problem: {
          code: 'choice_kind_missing',
          message: `A choice waits for the user only if an agent may not assume it. Add "choiceKind": one of ${NON_ASSUMABLE_CHOICES.join(', ')}.`,
        },
      },
    ],
  },
);

export const verification = object('verification', {
  command: optional(text(1024, { use: 'prompt' }), 'The command to run.'),
  prompt: optional(prompt, 'What to check.'),
});

export const audit = object('audit', {
  prompt: optional(prompt, 'What to look at.'),
  rubric: defaulted(list(text(2048, { use: 'prompt' })), 'The points to go through.', { otherwise: [] }),
});

export const standardStep = object(
  'standardStep',
  {
    ...STEP_HEAD,
    prompt: optional(prompt, 'What to do. A step has this or `promptBlocks`.'),
    promptBlocks: optional(unplaced(promptBlocks), 'The prompt in parts.'),
    agentRole: optional(agentRole, 'The stance of the agent in this step.'),
    guidance: defaulted(list(text(2048, { use: 'text' })), 'Constraints, one line each.', { otherwise: [] }),
    promptFragments: defaulted(
      list(fragment, { unique: { what: 'fragment', name: 'id' } }),
      'Texts that are added while a condition holds.',
      { as: 'fragments', otherwise: [] },
    ),
    ...OUTPUTS,
    validationCriteria: optional(
      criteria,
      'What the notes must show: see [Criteria](#criteria). Beside a contract they are advice only.',
      { as: 'criteria' },
    ),
    assessmentRefs: defaulted(
      list(located('id', text(ID_BYTES_MAX, { use: 'label', refersTo: ['assessment'] }))),
      'Ids of the assessments that the step requires.',
      { otherwise: [] },
    ),
    assessmentConsequences: defaulted(list(consequenceKind), 'What follows from a level.', {
      as: 'consequences',
      otherwise: [],
    }),
    functionDefinitions: defaulted(functionDefinitions('step'), 'Functions that only this step sees.', {
      as: 'functions',
      otherwise: [],
    }),
    functionReferences: defaulted(functionReferences, 'Functions to show with the prompt, as `"name()"`.', {
      otherwise: [],
    }),
    functionCalls: defaulted(list(functionCall), 'Functions with arguments filled in.', { otherwise: [] }),
    userDependency: optional(unplaced(userDependency), 'Something that only the user can give.'),
    verification: optional(unplaced(verification), 'Adds a step that checks this one.'),
    audit: optional(unplaced(audit), 'Adds a step that reviews this one.'),
    askForFiles: optional(ignored, 'Accepted without effect.'),
    hasValidation: optional(ignored, 'Accepted without effect.'),
  },
  {
    rules: [
      {
        of: ['prompt', 'promptBlocks'],
        none: () => ({
          code: 'prompt_missing',
          message: 'A step needs a "prompt" or "promptBlocks" that say what to do. Add one of them.',
        }),
        more: {
          code: 'prompt_twice',
          message: () => 'A step has either "prompt" or "promptBlocks". Remove one of them.',
        },
      },
      oneOutput,
    ],
  },
);

type StandardRead = Value<typeof standardStep>;
export type StandardStep = Omit<
  StandardRead,
  'type' | 'modelTier' | 'outputContract' | 'output' | 'askForFiles' | 'hasValidation'
> & {
  readonly kind: 'standard';
  readonly output?: OutputSyntax;
};

const standard: Kind<StandardStep> = built(standardStep, (read) => {
  const { type: _, outputContract: published, output: design, runCondition: __, ...rest } = read;
  const { output: asked, hints } = outputOf(defined({ outputContract: published, output: design }));
  return {
    ...rest,
    ...headOf({ ...read, title: read.title === '' ? read.id : read.title }),
    kind: 'standard',
    guidance: [...rest.guidance, ...hints],
    ...defined({ output: asked }),
  };
});

const CALL = {
  templateId: needed(text(ID_BYTES_MAX, { use: 'label' }), 'A routine, like `wr.templates.routine.plan-audit`.'),
  args: defaulted(texts('argument'), 'A text for each argument.', { otherwise: {} }),
};
const CALL_HEAD = {
  ...STEP_HEAD,
  title: optional(STEP_HEAD.title.kind, 'What people see; its `id`, if left out.'),
};

export const designCall = object('designCall', { ...CALL_HEAD, ...CALL });
export const templateCall = object('templateCall', CALL);
export const publishedCall = object('publishedCall', {
  ...CALL_HEAD,
  templateCall: needed(templateCall, 'What is called, and with what.'),
});

type CallHead = Omit<Value<typeof publishedCall>, 'templateCall'>;

const titled = (read: CallHead) => headOf({ ...read, title: read.title ?? read.id });

export type TemplateStep = ReturnType<typeof headOf> & {
  readonly kind: 'template';
  readonly templateId: string;
  /** Where id and arguments of the template stand. */
  readonly callAt: string;
  readonly args: { readonly [name: string]: string };
};

const inlineCall: Kind<TemplateStep> = built(designCall, ({ templateId, args, ...read }) => ({
  ...titled(read),
  kind: 'template',
  templateId,
  args,
  callAt: read.at,
}));
const objectCall: Kind<TemplateStep> = built(
  publishedCall,
  ({ templateCall: { at: callAt, ...call }, ...read }) => ({ ...titled(read), ...call, kind: 'template', callAt }),
  (step, change) => mapObject(designCall.data, step, change) as unknown as TemplateStep,
);

export const delegation = object('delegation', {
  workflowId: needed(text(ID_BYTES_MAX, { use: 'prompt' }), 'The workflow that the subagent follows.'),
  goal: optional(text(2048, { use: 'prompt' }), 'What it should find out.'),
  runCondition: optional(condition, 'It is left out unless this holds.'),
  contextMapping: defaulted(texts('value'), 'What it is given, by name.', { otherwise: {} }),
  args: defaulted(texts('argument'), 'Arguments, for a routine.', { otherwise: {} }),
  modelTier: optional(text(64, { use: 'prompt' }), 'Shown to the agent.'),
  allowedTools: defaulted(list(text(ID_BYTES_MAX, { use: 'prompt' })), 'Shown to the agent.', { otherwise: [] }),
});

export const synthesis = object(
  'synthesis',
  { prompt: optional(prompt, 'What to do with the answers.'), ...OUTPUTS },
  { rules: [oneOutput] },
);

const synthesisKind = built(synthesis, ({ at: _, prompt: said, ...outputs }): Synthesis => {
  const { output: asked } = outputOf(outputs);
  return defined({ prompt: said, output: asked });
});
type Synthesis = { readonly prompt?: string; readonly output?: OutputSyntax };

export const parallelStep = object('parallelStep', {
  ...STEP_HEAD,
  parallelDelegations: needed(list(delegation, { min: 1 }), 'What subagents do at the same time.', {
    as: 'delegations',
  }),
  synthesis: optional(synthesisKind, 'Adds a step that brings the answers together.'),
  agentRole: optional(agentRole, 'The stance of the agent in this step.'),
});

export type ParallelStep = Omit<Value<typeof parallelStep>, 'type' | 'modelTier'> & { readonly kind: 'parallel' };

const parallel: Kind<ParallelStep> = built(parallelStep, ({ type: _, runCondition: __, ...read }) => ({
  ...read,
  ...headOf({ ...read, ...defined({ runCondition: __ }) }),
  kind: 'parallel',
}));

export type StepSyntax = StandardStep | LoopStep | TemplateStep | ParallelStep;
export type LoopStep = LoopStepOf<StepSyntax>;

/** A step, of whichever kind. Without `type`, its keys decide. */
export const step: Kind<StepSyntax> = lazy('step', () => anyStep);

const loops = loopKinds(step);
export const { publishedLoop, designLoop } = loops;

const untyped = object('unknownStep', { type: needed(choice(STEP_TYPES), STEP_HEAD.type.says) });

const anyStep: Kind<StepSyntax> = built(
  chosen<StepSyntax>(
    { when: { is: ['type', 'standard'] }, of: standard },
    { when: { is: ['type', 'loop'], has: ['loop'] }, of: loops.published },
    { when: { is: ['type', 'loop'] }, of: loops.design },
    { when: { is: ['type', 'template_call'], has: ['templateCall'] }, of: objectCall },
    { when: { is: ['type', 'template_call'] }, of: inlineCall },
    { when: { is: ['type', 'parallel'] }, of: parallel },
    { when: { has: ['type'] }, of: built(untyped, (): StepSyntax | undefined => undefined) },
    { when: { has: ['templateCall'] }, of: objectCall },
    { when: { has: ['loop'] }, of: loops.published },
    { of: standard },
  ),
  (read) => read,
  (read, change) => {
    const kinds = { standard, loop: loops.design, template: objectCall, parallel };
    return mapTexts(kinds[read.kind] as Kind<StepSyntax>, read, change);
  },
);
