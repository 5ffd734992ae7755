import { defined } from '../../json/json-value.ts';
import { ASSURANCES } from '../../log/autonomy.ts';
import { CHECKS_MAX } from '../../log/budgets.ts';
import { NON_ASSUMABLE_CHOICES, USER_ONLY_REASONS } from '../../log/reasons.ts';
import { nearest } from '../../text/spelling.ts';
import { contracts } from '../builtins/contracts.ts';
import { check } from './check-fields.ts';
import { condition } from './condition-fields.ts';
import { criteria } from './criteria-fields.ts';
import * as f from './field.ts';
import { functionCall, functionDefinitions, functionReferences } from './function-fields.ts';
import { ACCOUNTS_MAX, ID_BYTES_MAX, PROMPT_BYTES_MAX, SETS_MAX } from './limits.ts';
import { headOf, loopKinds, STEP_HEAD, STEP_TYPES } from './loop-fields.ts';
import { promptBlocks } from './prompt-fields.ts';
import type { LoopStepOf } from './syntax.ts';
import { mapObject, mapTexts } from './text-walk.ts';

const localName = f.text(ID_BYTES_MAX, { use: 'label', form: 'plain_name', names: 'local' });
const prompt = f.text(PROMPT_BYTES_MAX, { use: 'prompt' });
const agentRole = f.text(1024, { use: 'prompt' });

export const fragment = f.object('fragment', {
  id: f.needed(localName, 'Its name in this step.'),
  when: f.defaulted(condition, 'It is part of the prompt while this holds; always, if left out.', {
    otherwise: { kind: 'always' },
  }),
  text: f.needed(f.text(4096, { use: 'prompt' }), 'The text.'),
});

const OUTPUT = {
  required: f.defaulted(f.flag, 'Whether the artifact must be handed in.', { as: 'isRequired', otherwise: true }),
  hints: f.optionalList(f.list(f.text(512, { use: 'text' })), 'Advice about it, which is not checked.'),
};
const contractRef = f.text(ID_BYTES_MAX, { use: 'label', known: contracts.ids });

export const outputContract = f.object('outputContract', {
  contractRef: f.needed(contractRef, 'One of the [contracts](builtins.md).'),
  ...OUTPUT,
});

export const output = f.object(
  'output',
  {
    contractRef: f.optional(contractRef, 'One of the [contracts](builtins.md). Without one, the hints are guidance.'),
    ...OUTPUT,
  },
  [
    {
      of: ['contractRef', 'hints'],
      none: () => ({ code: 'missing_field', message: '"contractRef" is missing here. Add it.' }),
    },
  ],
);

const OUTPUTS = {
  outputContract: f.optional(outputContract, 'The artifact that the step requires.'),
  output: f.optional(output, 'The same in the other spelling.'),
};
const oneOutput = {
  of: ['outputContract', 'output'],
  more: {
    code: 'wrong_value',
    message: () => '"output" and "outputContract" mean the same. Remove one of them.',
  },
} as const;

export type OutputSyntax = f.Value<typeof outputContract>;

type OutputsRead = { readonly outputContract?: OutputSyntax; readonly output?: f.Value<typeof output> };

/** One spelling of what a step must hand in. Hints without a contract are guidance. */
function outputOf({ outputContract: published, output: design }: OutputsRead): StepOutput {
  if (published !== undefined) return { output: published, hints: [] };
  const { contractRef: named, ...rest } = design ?? { hints: [] };
  return named === undefined || !('at' in rest)
    ? { hints: rest.hints }
    : { output: { ...rest, contractRef: named }, hints: [] };
}

type StepOutput = { readonly output?: OutputSyntax; readonly hints: readonly string[] };

export const consequenceWhen = f.closed('consequenceWhen', {
  anyEqualsLevel: f.needed(f.text(ID_BYTES_MAX, { use: 'label' }), 'Any dimension has this level.'),
  forAssessment: f.optional(
    f.text(ID_BYTES_MAX, { use: 'label', refersTo: ['assessment'] }),
    'Only of this assessment.',
  ),
});

export const consequenceEffect = f.closed('consequenceEffect', {
  kind: f.needed(f.choice(['require_followup']), 'The step stays pending.'),
  guidance: f.needed(f.text(512, { use: 'text' }), 'What to do then.'),
});

export const consequence = f.closed('consequence', {
  when: f.needed(consequenceWhen, 'By which level.'),
  effect: f.needed(consequenceEffect, 'What follows.'),
});

export type ConsequenceSyntax = {
  readonly at: string;
  readonly anyEqualsLevel: string;
  readonly forAssessment?: string;
  readonly guidance: string;
};

const consequenceKind: f.Kind<ConsequenceSyntax> = f.built(
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

export const userDependency = f.closed(
  'userDependency',
  {
    reason: f.needed(
      f.choice(USER_ONLY_REASONS),
      'What only the user can give: a secret (the value never goes into context), access to an account, a file or text that only they have, a choice, an approval, or something done on their machine. An approval waits for a person in every mode.',
    ),
    choiceKind: f.optional(
      f.choice(NON_ASSUMABLE_CHOICES),
      'For `needs_user_choice`: why the agent may not choose itself: a matter of taste, what belongs to the task, what cannot be undone, what others notice, or what a rule or law decides. The last three wait for a person in every mode.',
    ),
    contextKey: f.optional(
      f.text(ID_BYTES_MAX, { use: 'label', form: 'context_key', names: 'context_key', refersTo: ['context_key'] }),
      'The context value that the answer goes into. The step then waits until it is set.',
    ),
    prompt: f.needed(f.text(1024, { use: 'text' }), 'The question.'),
  },
  [
    {
      when: ['reason', 'needs_user_choice'],
      needs: 'choiceKind',
      problem: {
        code: 'choice_kind_missing',
        message: `A choice waits for the user only if an agent may not assume it. Add "choiceKind": one of ${NON_ASSUMABLE_CHOICES.join(', ')}.`,
      },
    },
  ],
);

const idPrefix = f.text(4, { use: 'label', form: 'id_prefix' });
const listName = f.text(64, { use: 'label', form: 'plain_name' });

export const accountFor = f.closed('accountFor', {
  context: f.needed(
    f.text(ID_BYTES_MAX, { use: 'label', form: 'context_name', refersTo: ['context_key'] }),
    'The context key of the list, such as `criteria`. Its entries begin with an id: `AC1: what must be true`.',
  ),
  prefix: f.needed(idPrefix, 'What the ids begin with, such as `AC`.'),
  in: f.needed(listName, "Where each id must occur: a list of the step's artifact, such as `checks`, or `notes`."),
});

export const collection = f.closed('collection', {
  list: f.needed(listName, "A list of the step's artifact, such as `findings`."),
  into: f.needed(
    f.text(ID_BYTES_MAX, { use: 'label', form: 'context_name', names: 'context_key', refersTo: ['context_key'] }),
    'The context key that gets an entry for each item, with an id that WorkRail gives it.',
  ),
  prefix: f.needed(idPrefix, 'What the ids begin with, such as `F`.'),
  replaces: f.defaulted(f.flag, 'Whether the entries replace earlier ones; otherwise they are added to them.', {
    otherwise: false,
  }),
});

export const verification = f.object('verification', {
  command: f.optional(f.text(1024, { use: 'command' }), 'The command to run.'),
  prompt: f.optional(prompt, 'What to check.'),
});

export const audit = f.object('audit', {
  prompt: f.optional(prompt, 'What to look at.'),
  rubric: f.optionalList(f.list(f.text(2048, { use: 'prompt' })), 'The points to go through.'),
});

export const standardStep = f.object(
  'standardStep',
  {
    ...STEP_HEAD,
    prompt: f.optional(prompt, 'What to do. A step has this or `promptBlocks`.'),
    promptBlocks: f.optional(f.unplaced(promptBlocks), 'The prompt in parts.'),
    agentRole: f.optional(agentRole, 'The stance of the agent in this step.'),
    guidance: f.optionalList(f.list(f.text(2048, { use: 'prompt' })), 'Constraints, one line each.'),
    promptFragments: f.optionalList(
      f.list(fragment, { unique: { what: 'fragment', name: 'id' } }),
      'Texts that are added while a condition holds.',
      { as: 'fragments' },
    ),
    ...OUTPUTS,
    validationCriteria: f.optional(
      criteria,
      'What the notes must show: see [Criteria](#criteria). Beside a contract they are advice only.',
      { as: 'criteria' },
    ),
    assessmentRefs: f.optionalList(
      f.list(f.located('id', f.text(ID_BYTES_MAX, { use: 'label', refersTo: ['assessment'] }))),
      'Ids of the assessments that the step requires.',
    ),
    assessmentConsequences: f.optionalList(f.list(consequenceKind), 'What follows from a level.', {
      as: 'consequences',
    }),
    functionDefinitions: f.optionalList(functionDefinitions('step'), 'Functions that only this step sees.', {
      as: 'functions',
    }),
    functionReferences: f.optionalList(functionReferences, 'Functions to show with the prompt, as `"name()"`.'),
    functionCalls: f.optionalList(f.list(functionCall), 'Functions with arguments filled in.'),
    userDependency: f.optional(f.unplaced(userDependency), 'Something that only the user can give.'),
    assurance: f.optional(
      f.choice(ASSURANCES),
      "How the user's answer is known: `stated` takes the agent's word, `confirmed` waits for an answer on a channel that the agent's calls cannot reach, `signed` for one with the signature of an approver. Approvals and choices that cannot be undone are `confirmed` by default.",
    ),
    bindsTree: f.defaulted(f.flag, 'Whether an approval ends when files of the workspace change.', { otherwise: true }),
    sets: f.defaulted(
      f.list(
        f.text(ID_BYTES_MAX, { use: 'label', form: 'context_name', names: 'context_key', refersTo: ['context_key'] }),
        { max: SETS_MAX },
      ),
      'Context keys that this step is meant to set. They are part of the form that the agent fills in.',
      { otherwise: [] },
    ),
    checks: f.optionalList(
      f.list(check, { max: CHECKS_MAX, unique: { what: 'check', name: 'id' } }),
      'Commands that show that the work holds, and how well their result must be known: see [check](#check).',
    ),
    accountsFor: f.optionalList(
      f.list(accountFor, { max: ACCOUNTS_MAX }),
      'Lists of context of which no entry may be left out: see [accountFor](#accountfor).',
    ),
    collects: f.optionalList(
      f.list(collection, { max: ACCOUNTS_MAX }),
      'What is kept in context from the artifact, so that later steps can account for it: see [collection](#collection).',
    ),
    verification: f.optional(f.unplaced(verification), 'Adds a step that checks this one.'),
    audit: f.optional(f.unplaced(audit), 'Adds a step that reviews this one.'),
    askForFiles: f.optional(f.ignored, 'Accepted without effect.'),
    hasValidation: f.optional(f.ignored, 'Accepted without effect.'),
  },
  [
    {
      of: ['prompt', 'promptBlocks'],
      none: (object) => {
        const meant = [...object.fields.keys()].find((key) => nearest(key, ['prompt', 'promptBlocks']) !== undefined);
        const advice = meant === undefined ? 'Add one of them.' : `Rename "${meant}".`;
        const message = `A step needs a "prompt" or "promptBlocks" that say what to do. ${advice}`;
        return { code: 'prompt_missing', message };
      },
      more: {
        code: 'prompt_twice',
        message: () => 'A step has either "prompt" or "promptBlocks". Remove one of them.',
      },
    },
    oneOutput,
  ],
);

type StandardRead = f.Value<typeof standardStep>;
export type StandardStep = Omit<
  StandardRead,
  'type' | 'modelTier' | 'outputContract' | 'output' | 'askForFiles' | 'hasValidation'
> & {
  readonly kind: 'standard';
  readonly output?: OutputSyntax;
};

const standard: f.Kind<StandardStep> = f.built(standardStep, (read) => {
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
  templateId: f.needed(f.text(ID_BYTES_MAX, { use: 'label' }), 'A routine, like `wr.templates.routine.plan-audit`.'),
  args: f.defaulted(f.texts('argument'), 'A text for each argument.', { otherwise: {} }),
};
const CALL_HEAD = {
  ...STEP_HEAD,
  title: f.optional(STEP_HEAD.title.kind, 'What people see; its `id`, if left out.'),
};

export const designCall = f.object('designCall', { ...CALL_HEAD, ...CALL });
export const templateCall = f.object('templateCall', CALL);
export const publishedCall = f.object('publishedCall', {
  ...CALL_HEAD,
  templateCall: f.needed(templateCall, 'What is called, and with what.'),
});

type CallHead = Omit<f.Value<typeof publishedCall>, 'templateCall'>;

const titled = (read: CallHead) => headOf({ ...read, title: read.title ?? read.id });

export type TemplateStep = ReturnType<typeof headOf> & {
  readonly kind: 'template';
  readonly templateId: string;
  /** Where id and arguments of the template stand. */
  readonly callAt: string;
  readonly args: { readonly [name: string]: string };
};

const inlineCall: f.Kind<TemplateStep> = f.built(designCall, ({ templateId, args, ...read }) => ({
  ...titled(read),
  kind: 'template',
  templateId,
  args,
  callAt: read.at,
}));
const objectCall: f.Kind<TemplateStep> = f.built(
  publishedCall,
  ({ templateCall: { at: callAt, ...call }, ...read }) => ({ ...titled(read), ...call, kind: 'template', callAt }),
  (step, change) => mapObject(designCall.data, step, change) as unknown as TemplateStep,
);

export const delegation = f.object('delegation', {
  workflowId: f.needed(f.text(ID_BYTES_MAX, { use: 'prompt' }), 'The workflow that the subagent follows.'),
  goal: f.optional(f.text(2048, { use: 'prompt' }), 'What it should find out.'),
  runCondition: f.optional(condition, 'It is left out unless this holds.'),
  contextMapping: f.defaulted(f.texts('value'), 'What it is given, by name.', { otherwise: {} }),
  args: f.defaulted(f.texts('argument'), 'Arguments, for a routine.', { otherwise: {} }),
  modelTier: f.optional(f.text(64, { use: 'prompt' }), 'Shown to the agent.'),
  allowedTools: f.optionalList(f.list(f.text(ID_BYTES_MAX, { use: 'prompt' })), 'Shown to the agent.'),
});

export const synthesis = f.object(
  'synthesis',
  { prompt: f.optional(prompt, 'What to do with the answers.'), ...OUTPUTS },
  [oneOutput],
);

const synthesisKind = f.built(synthesis, ({ at: _, prompt: said, ...outputs }): Synthesis => {
  const { output: asked } = outputOf(outputs);
  return defined({ prompt: said, output: asked });
});
type Synthesis = { readonly prompt?: string; readonly output?: OutputSyntax };

export const parallelStep = f.object('parallelStep', {
  ...STEP_HEAD,
  parallelDelegations: f.needed(f.list(delegation, { min: 1 }), 'What subagents do at the same time.', {
    as: 'delegations',
  }),
  synthesis: f.optional(synthesisKind, 'Adds a step that brings the answers together.'),
  agentRole: f.optional(agentRole, 'The stance of the agent in this step.'),
});

export type ParallelStep = Omit<f.Value<typeof parallelStep>, 'type' | 'modelTier'> & { readonly kind: 'parallel' };

const parallel: f.Kind<ParallelStep> = f.built(parallelStep, ({ type: _, runCondition: __, ...read }) => ({
  ...read,
  ...headOf({ ...read, ...defined({ runCondition: __ }) }),
  kind: 'parallel',
}));

export type StepSyntax = StandardStep | LoopStep | TemplateStep | ParallelStep;
export type LoopStep = LoopStepOf<StepSyntax>;

/** A step, of whichever kind. Without `type`, its keys decide. */
export const step: f.Kind<StepSyntax> = f.lazy('step', () => anyStep);

const loops = loopKinds(step);
export const { publishedLoop, designLoop } = loops;

const untyped = f.open('unknownStep', { type: f.needed(f.choice(STEP_TYPES), STEP_HEAD.type.says) });

const anyStep: f.Kind<StepSyntax> = f.built(
  f.chosen<StepSyntax>(
    { when: { is: ['type', 'standard'] }, of: standard },
    { when: { is: ['type', 'loop'], has: ['loop'] }, of: loops.published },
    { when: { is: ['type', 'loop'] }, of: loops.design },
    { when: { is: ['type', 'template_call'], has: ['templateCall'] }, of: objectCall },
    { when: { is: ['type', 'template_call'] }, of: inlineCall },
    { when: { is: ['type', 'parallel'] }, of: parallel },
    { when: { has: ['type'] }, of: f.built(untyped, (): StepSyntax | undefined => undefined) },
    { when: { has: ['templateCall'] }, of: objectCall },
    { when: { has: ['loop'] }, of: loops.published },
    { of: standard },
  ),
  (read) => read,
  (read, change) => {
    const kinds = { standard, loop: loops.design, template: objectCall, parallel };
    return mapTexts(kinds[read.kind] as f.Kind<StepSyntax>, read, change);
  },
);
