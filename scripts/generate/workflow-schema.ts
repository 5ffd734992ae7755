import { AUTONOMY, RISK_POLICY } from '../../src/core/log/autonomy.ts';
import { CAPABILITIES } from '../../src/core/log/blockers.ts';
import { NON_ASSUMABLE_CHOICES, USER_ONLY_REASONS } from '../../src/core/log/reasons.ts';
import { contracts, features, refs } from '../../src/core/workflow/builtins/registry.ts';
import { KEYS } from '../../src/core/workflow/format/keys.ts';
import {
  EXAMPLES_MAX,
  ITERATIONS_MAX,
  LEGACY_ID,
  LIST_MAX,
  NAMESPACED_ID,
  PLAIN_NAME,
  SAFE_ID,
  SEMANTIC_VERSION,
  TEXT_LIMITS,
  VARIABLE_NAME,
} from '../../src/core/workflow/format/limits.ts';
import { SLOT_KINDS } from '../../src/core/workflow/format/read-declarations.ts';
import { FUNCTION_SCOPES } from '../../src/core/workflow/format/read-functions.ts';
import { LOOP_TYPES } from '../../src/core/workflow/format/read-loop.ts';
import { GATES } from '../../src/core/workflow/format/read-step.ts';
import { REQUIREMENTS } from '../../src/core/workflow/format/read-workflow.ts';

export type Schema = { readonly [keyword: string]: unknown };

/** What editors show while a workflow is written. Made of the lists the compiler reads by, so the two cannot differ. */
export function workflowSchema(): Schema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'workflow.schema.json',
    title: 'A workflow file, in either spelling',
    ...workflow(),
    $defs: { step: step(), condition: condition(), criteria: criteria(), functions: functionDefinitions() },
  };
}

const STEP = { $ref: '#/$defs/step' };
const CONDITION = { $ref: '#/$defs/condition' };
const CRITERIA = { $ref: '#/$defs/criteria' };
const FUNCTIONS = { $ref: '#/$defs/functions' };
const ANYTHING = {};

/** An object with these keys. The type asks for a schema of each key that the compiler reads, and for no other. */
function object<const Keys extends readonly string[]>(
  keys: Keys,
  properties: { readonly [key in Keys[number]]: Schema },
  rules: { readonly required?: readonly Keys[number][]; readonly isClosed?: boolean } = {},
): Schema {
  const ordered = Object.fromEntries(keys.map((key) => [key, properties[key as Keys[number]]]));
  return {
    type: 'object',
    properties: ordered,
    ...(rules.required === undefined ? {} : { required: rules.required }),
    // Keys that begin with "$" are for editors everywhere.
    ...(rules.isClosed === true ? { patternProperties: { '^\\$': {} }, additionalProperties: false } : {}),
  };
}

/** Budgets are bytes; no text has fewer bytes than characters. */
function text(limit: keyof typeof TEXT_LIMITS, minLength = 1): Schema {
  return { type: 'string', minLength, maxLength: TEXT_LIMITS[limit] };
}

const list = (items: Schema, rules: Schema = {}): Schema => ({ type: 'array', items, maxItems: LIST_MAX, ...rules });
const choice = (words: readonly string[]): Schema => ({ enum: words });
const pattern = (expression: RegExp): Schema => ({ type: 'string', pattern: expression.source });
const flag: Schema = { type: 'boolean' };
const texts: Schema = {
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'boolean'] },
};

function workflow(): Schema {
  return object(
    KEYS.workflow,
    {
      id: { type: 'string', pattern: `${NAMESPACED_ID.source}|${LEGACY_ID.source}` },
      name: text('name'),
      description: text('description'),
      version: pattern(SEMANTIC_VERSION),
      about: text('about'),
      examples: list(text('example', 3), { minItems: 1, maxItems: EXAMPLES_MAX }),
      tags: list(text('tag')),
      agentRole: text('agentRole'),
      capabilities: object(
        CAPABILITIES,
        { delegation: choice(REQUIREMENTS), web_browsing: choice(REQUIREMENTS) },
        { isClosed: true },
      ),
      features: list({ anyOf: [choice(features.ids), feature()] }),
      conditions: list({ allOf: [{ type: 'object', required: ['id', 'kind'] }, CONDITION] }),
      preconditions: list(text('standingText')),
      clarificationPrompts: list(text('standingText')),
      metaGuidance: list(text('standingText')),
      functionDefinitions: FUNCTIONS,
      recommendedPreferences: object(KEYS.recommended, {
        recommendedAutonomy: choice(AUTONOMY),
        recommendedRiskPolicy: choice(RISK_POLICY),
      }),
      assessments: list(assessment()),
      extensionPoints: list(extensionPoint()),
      references: list(reference()),
      steps: list(STEP, { minItems: 1 }),
      modelTier: ANYTHING,
      metricsProfile: ANYTHING,
      validatedAgainstSpecVersion: ANYTHING,
    },
    { required: ['id', 'name', 'description', 'steps'] },
  );
}

function feature(): Schema {
  return object(
    KEYS.feature,
    { id: choice(features.ids), config: { type: 'object' } },
    { required: ['id'], isClosed: true },
  );
}

function functionDefinitions(): Schema {
  const parameter = object(
    KEYS.parameter,
    {
      name: text('name'),
      type: text('name'),
      description: text('description'),
      required: ANYTHING,
      default: ANYTHING,
      enum: ANYTHING,
    },
    { required: ['name'] },
  );
  return list(
    object(
      KEYS.functionDefinition,
      {
        name: text('name'),
        definition: text('definition'),
        parameters: list({ anyOf: [text('name'), parameter] }),
        scope: choice(FUNCTION_SCOPES),
      },
      { required: ['name', 'definition'] },
    ),
  );
}

function functionCall(): Schema {
  return object(KEYS.functionCall, { name: text('name'), args: texts }, { required: ['name'] });
}

function assessment(): Schema {
  const dimension = object(
    KEYS.dimension,
    { id: pattern(PLAIN_NAME), purpose: text('purpose'), levels: list(text('name'), { minItems: 2 }), required: flag },
    { required: ['id', 'levels'] },
  );
  return object(
    KEYS.assessment,
    { id: pattern(PLAIN_NAME), purpose: text('purpose'), dimensions: list(dimension, { minItems: 1 }) },
    { required: ['id', 'dimensions'] },
  );
}

function extensionPoint(): Schema {
  return object(
    KEYS.extensionPoint,
    {
      slotId: pattern(PLAIN_NAME),
      purpose: text('purpose'),
      default: text('argument'),
      acceptedKinds: list(choice(SLOT_KINDS)),
    },
    { required: ['slotId', 'default'] },
  );
}

function reference(): Schema {
  return object(
    KEYS.reference,
    {
      id: pattern(PLAIN_NAME),
      title: text('title'),
      source: text('source'),
      purpose: text('purpose'),
      authoritative: flag,
      resolveFrom: choice(['workspace', 'package']),
    },
    { required: ['id', 'title', 'source'] },
  );
}

const head = {
  id: pattern(SAFE_ID),
  title: text('title'),
  runCondition: CONDITION,
  requireConfirmation: { anyOf: [flag, gate(), CONDITION] },
  notesOptional: flag,
  modelTier: ANYTHING,
};

function gate(): Schema {
  return object(KEYS.gate, { kind: choice(GATES), condition: CONDITION }, { required: ['kind'], isClosed: true });
}

function step(): Schema {
  return { anyOf: [standardStep(), designLoop(), publishedLoop(), designCall(), publishedCall(), parallelStep()] };
}

function standardStep(): Schema {
  const keys = [...KEYS.stepHead, ...KEYS.standardStep] as const;
  const properties = {
    ...head,
    type: choice(['standard']),
    prompt: text('prompt'),
    promptBlocks: promptBlocks(),
    agentRole: text('agentRole'),
    guidance: list(text('guidance')),
    promptFragments: list(fragment()),
    outputContract: output(['contractRef']),
    output: output([]),
    validationCriteria: CRITERIA,
    assessmentRefs: list(text('id')),
    assessmentConsequences: list(consequence()),
    functionDefinitions: FUNCTIONS,
    functionReferences: list(text('name')),
    functionCalls: list(functionCall()),
    userDependency: userDependency(),
    verification: object(KEYS.verification, { command: text('command'), prompt: text('prompt') }),
    audit: object(KEYS.audit, { prompt: text('prompt'), rubric: list(text('guidance')) }),
    askForFiles: ANYTHING,
    hasValidation: ANYTHING,
  };
  return {
    ...object(keys, properties, { required: ['id', 'title'] }),
    oneOf: [{ required: ['prompt'] }, { required: ['promptBlocks'] }],
  };
}

function promptBlocks(): Schema {
  const part = {
    anyOf: [
      text('prompt'),
      object(
        KEYS.textPart,
        { kind: choice(['text']), text: text('prompt') },
        { required: ['kind', 'text'], isClosed: true },
      ),
      object(
        KEYS.refPart,
        { kind: choice(['ref']), refId: choice(refs.ids) },
        { required: ['kind', 'refId'], isClosed: true },
      ),
    ],
  };
  const block = { anyOf: [part, { type: 'array', items: part }] };
  const blocks = { anyOf: [text('prompt'), { type: 'array', items: block }] };
  const properties = {
    goal: block,
    constraints: blocks,
    procedure: blocks,
    outputRequired: { type: 'object', additionalProperties: block },
    verify: blocks,
  };
  return { ...object(KEYS.promptBlocks, properties), minProperties: 1 };
}

function fragment(): Schema {
  return object(
    KEYS.fragment,
    { id: pattern(PLAIN_NAME), when: CONDITION, text: text('fragment') },
    { required: ['id', 'text'] },
  );
}

function output(required: readonly 'contractRef'[]): Schema {
  return object(
    KEYS.output,
    { contractRef: choice(contracts.ids), required: flag, hints: list(text('hint')) },
    { required },
  );
}

function consequence(): Schema {
  const when = object(
    KEYS.consequenceWhen,
    { anyEqualsLevel: text('name'), forAssessment: text('id') },
    { required: ['anyEqualsLevel'], isClosed: true },
  );
  const effect = object(
    KEYS.consequenceEffect,
    { kind: choice(['require_followup']), guidance: text('consequence') },
    { required: ['kind', 'guidance'], isClosed: true },
  );
  return object(KEYS.consequence, { when, effect }, { required: ['when', 'effect'], isClosed: true });
}

function userDependency(): Schema {
  return object(
    KEYS.userDependency,
    {
      reason: choice(USER_ONLY_REASONS),
      choiceKind: choice(NON_ASSUMABLE_CHOICES),
      contextKey: pattern(SAFE_ID),
      prompt: text('question'),
    },
    { required: ['reason', 'prompt'], isClosed: true },
  );
}

const maxIterations = { type: 'integer', minimum: 1, maximum: ITERATIONS_MAX };
const loopType = choice(['loop']);
const body = { anyOf: [pattern(SAFE_ID), list(STEP, { minItems: 1 })] };

function designLoop(): Schema {
  return object(
    [...KEYS.stepHead, ...KEYS.designLoop] as const,
    {
      ...head,
      type: loopType,
      loopId: pattern(SAFE_ID),
      while: CONDITION,
      maxIterations,
      body,
      functionDefinitions: FUNCTIONS,
    },
    { required: ['type', 'loopId', 'maxIterations', 'body'] },
  );
}

function publishedLoop(): Schema {
  return object(
    [...KEYS.stepHead, ...KEYS.publishedLoop] as const,
    {
      ...head,
      type: loopType,
      loopId: pattern(SAFE_ID),
      loop: loopSettings(),
      body,
      functionDefinitions: FUNCTIONS,
    },
    { required: ['id', 'loop', 'body'] },
  );
}

function loopSettings(): Schema {
  const artifact = object(
    KEYS.artifactSource,
    {
      kind: choice(['artifact_contract']),
      contractRef: choice(['wr.contracts.loop_control']),
      loopId: pattern(SAFE_ID),
    },
    { required: ['kind', 'contractRef'], isClosed: true },
  );
  const context = object(
    KEYS.contextSource,
    { kind: choice(['context_variable']), condition: CONDITION },
    { required: ['kind', 'condition'], isClosed: true },
  );
  return object(
    KEYS.loopSettings,
    {
      type: choice(LOOP_TYPES),
      maxIterations,
      condition: CONDITION,
      conditionSource: { anyOf: [artifact, context] },
      items: { type: ['string', 'array'] },
      count: {
        anyOf: [
          { type: 'integer', minimum: 0 },
          { type: 'string', minLength: 1 },
        ],
      },
      iterationVar: pattern(VARIABLE_NAME),
      itemVar: pattern(VARIABLE_NAME),
      indexVar: pattern(VARIABLE_NAME),
    },
    { required: ['type', 'maxIterations'] },
  );
}

function call(): Schema {
  return object(KEYS.designCall, { templateId: text('id'), args: texts }, { required: ['templateId'] });
}

function designCall(): Schema {
  return object(
    [...KEYS.stepHead, ...KEYS.designCall] as const,
    { ...head, type: choice(['template_call']), templateId: text('id'), args: texts },
    { required: ['id', 'type', 'templateId'] },
  );
}

function publishedCall(): Schema {
  return object(
    [...KEYS.stepHead, ...KEYS.publishedCall] as const,
    { ...head, type: choice(['template_call']), templateCall: call() },
    { required: ['id', 'templateCall'] },
  );
}

function parallelStep(): Schema {
  const delegation = object(
    KEYS.delegation,
    {
      workflowId: text('id'),
      goal: text('goal'),
      runCondition: CONDITION,
      contextMapping: texts,
      args: texts,
      modelTier: text('tag'),
      allowedTools: list(text('id')),
    },
    { required: ['workflowId'] },
  );
  const synthesis = object(KEYS.synthesis, {
    prompt: text('prompt'),
    outputContract: output(['contractRef']),
    output: output([]),
  });
  return object(
    [...KEYS.stepHead, ...KEYS.parallelStep] as const,
    {
      ...head,
      type: choice(['parallel']),
      parallelDelegations: list(delegation, { minItems: 1 }),
      synthesis,
      agentRole: text('agentRole'),
    },
    { required: ['id', 'type', 'title', 'parallelDelegations'] },
  );
}

function condition(): Schema {
  const number = { type: ['number', 'string'] };
  const word = { type: 'string' };
  const { properties } = object(KEYS.comparison, {
    var: { type: 'string', minLength: 1 },
    equals: ANYTHING,
    not_equals: ANYTHING,
    in: { type: 'array' },
    gt: number,
    gte: number,
    lt: number,
    lte: number,
    contains: ANYTHING,
    startsWith: word,
    endsWith: word,
    matches: word,
  });
  const many = { type: 'array', items: CONDITION, minItems: 1 };
  return {
    type: 'object',
    properties: {
      ...(properties as Schema),
      and: many,
      or: many,
      not: CONDITION,
      kind: choice(['always_true', 'always_false', 'loop_control', 'context', 'condition_ref']),
      id: pattern(SAFE_ID),
      conditionId: pattern(SAFE_ID),
      condition: CONDITION,
      continueWhen: choice(['continue', 'stop']),
      loopId: pattern(SAFE_ID),
    },
    patternProperties: { '^\\$': {} },
    additionalProperties: false,
  };
}

function criteria(): Schema {
  const rule = { message: text('criteriaMessage'), condition: CONDITION };
  const size = { type: 'integer', minimum: 0 };
  const closed = { required: ['type', 'message'], isClosed: true } as const;
  const many = { type: 'array', items: CRITERIA };
  return {
    anyOf: [
      many,
      { type: 'object', properties: { and: many }, required: ['and'], additionalProperties: false },
      { type: 'object', properties: { or: many }, required: ['or'], additionalProperties: false },
      { type: 'object', properties: { not: CRITERIA }, required: ['not'], additionalProperties: false },
      object(KEYS.containsRule, { ...rule, type: choice(['contains']), value: text('pattern') }, closed),
      object(
        KEYS.regexRule,
        { ...rule, type: choice(['regex']), pattern: text('pattern'), flags: pattern(/^[gimsu]*$/) },
        closed,
      ),
      object(KEYS.lengthRule, { ...rule, type: choice(['length']), min: size, max: size }, closed),
      object(KEYS.schemaRule, { ...rule, type: choice(['schema']), schema: ANYTHING }, closed),
    ],
  };
}
