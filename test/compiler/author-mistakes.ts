import type { DiagnosticCode } from '../../src/core/workflow/diagnostic.ts';
import { branchesOf, type Json, type Leaf, pointerOf, replaced } from './json-leaves.ts';

type JsonObject = { readonly [key: string]: Json };

/** A file with one mistake in it, and what its author should be told. */
export type Mistake = {
  readonly text: string;
  readonly code: DiagnosticCode;
  readonly pointer: string;
  /** Only a warning; where something else depends on what is misspelled, that is an error of its own. */
  readonly isWarning?: boolean;
  readonly hasFix?: boolean;
};

/** One way in which authors go wrong, wherever a document offers a place for it. */
export type Operator = { readonly name: string; readonly mistakes: (document: Json) => readonly Mistake[] };

type Change = Omit<Mistake, 'text' | 'pointer'> & { readonly path: readonly string[]; readonly document: Json };

const PLACES_MAX = 3;

function operator(name: string, changes: (document: Json) => readonly Change[]): Operator {
  return {
    name,
    mistakes: (document) =>
      changes(document)
        .slice(0, PLACES_MAX)
        .map(({ path, document: changed, ...rest }) => ({
          ...rest,
          text: JSON.stringify(changed, null, 2),
          pointer: pointerOf(path),
        })),
  };
}

/** An operator that puts something into steps of a kind, with the place it goes wrong at relative to the step. */
function inSteps(
  name: string,
  kind: StepKind,
  mistake: {
    readonly put: (step: JsonObject) => { readonly [key: string]: Json | undefined };
    readonly at: readonly string[];
  } & Omit<Mistake, 'text' | 'pointer'>,
): Operator {
  const { put, at, ...expected } = mistake;
  return operator(name, (document) =>
    stepsOf(document, kind).map(({ path, value }) => {
      const changed = { ...(value as JsonObject), ...put(value as JsonObject) };
      const step = Object.fromEntries(Object.entries(changed).filter(([, one]) => one !== undefined)) as Json;
      return { ...expected, path: [...path, ...at], document: replaced(document, path, step) };
    }),
  );
}

/** An operator that adds an entry to a list of the top level, at the end. */
function added(
  name: string,
  {
    list,
    entry,
    at,
    ...expected
  }: { list: string; entry: Json; at: readonly string[] } & Omit<Mistake, 'text' | 'pointer'>,
): Operator {
  return operator(name, (document) => {
    const before = listOf(document, list);
    const changed = replaced(document, [list], [...before, entry]);
    return [{ ...expected, path: [list, String(before.length), ...at], document: changed }];
  });
}

type StepKind = 'any' | 'standard' | 'prompted' | 'loop' | 'call';

function stepsOf(document: Json, kind: StepKind): readonly Leaf[] {
  return branchesOf(document).filter(({ path, value }) => {
    if (Array.isArray(value) || !['steps', 'body'].includes(path.at(-2) ?? '')) return false;
    const step = value as JsonObject;
    const isCall = 'templateCall' in step || step['type'] === 'template_call';
    const isStandard = !isCall && step['type'] === undefined;
    if (kind === 'any') return true;
    if (kind === 'prompted') return isStandard && 'prompt' in step;
    if (kind === 'standard') return isStandard;
    return kind === 'call' ? isCall : step['type'] === 'loop';
  });
}

function listOf(document: Json, name: string): readonly Json[] {
  const list = (document as JsonObject)[name];
  return Array.isArray(list) ? (list as readonly Json[]) : [];
}

function misspelled(key: string): string {
  return `${key.slice(0, -2)}${key.at(-1)}${key.at(-2)}`;
}

function renamedKey(object: JsonObject, from: string, to: string): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key === from ? to : key, value]));
}

const isMisspellable = (key: string) => key.length >= 5 && misspelled(key) !== key;

const work = (id: string, rest: JsonObject = {}): JsonObject => ({ id, title: 'Added', prompt: 'Added.', ...rest });
const loop = (id: string, settings: JsonObject): JsonObject => ({
  id,
  type: 'loop',
  loop: settings,
  body: [work(`${id}-body`)],
});
const condition = { var: 'x', equals: 1 };
const ref = (conditionId: string) => ({ kind: 'condition_ref', conditionId });
const consequence = (level: string) => ({
  when: { anyEqualsLevel: level },
  effect: { kind: 'require_followup', guidance: 'More.' },
});
const triage = 'project.templates.routine.triage';

export const OPERATORS: readonly Operator[] = [
  operator('leave out a field that every workflow needs', (document) =>
    ['id', 'name', 'description', 'steps'].map((name) => ({
      code: 'missing_field',
      path: [],
      document: replaced(document, [name], undefined),
    })),
  ),
  inSteps('leave out the id of a step', 'standard', { code: 'missing_field', put: () => ({ id: undefined }), at: [] }),
  inSteps('leave out the title of a step', 'standard', {
    code: 'missing_field',
    put: () => ({ title: undefined }),
    at: [],
  }),
  inSteps('leave out the prompt', 'prompted', { code: 'prompt_missing', put: () => ({ prompt: undefined }), at: [] }),
  inSteps('leave out the body of a loop', 'loop', { code: 'missing_field', put: () => ({ body: undefined }), at: [] }),
  inSteps('write both prompt and promptBlocks', 'prompted', {
    code: 'prompt_twice',
    put: () => ({ promptBlocks: { goal: 'Twice.' } }),
    at: ['promptBlocks'],
  }),
  inSteps('write prompt blocks without a block', 'prompted', {
    code: 'prompt_missing',
    put: () => ({ prompt: undefined, promptBlocks: {} }),
    at: ['promptBlocks'],
  }),
  operator('misspell a key of the top level', (document) =>
    Object.keys(document as JsonObject)
      .filter(isMisspellable)
      .map((key) => ({
        code: 'unknown_key',
        isWarning: true,
        hasFix: true,
        path: [misspelled(key)],
        document: renamedKey(document as JsonObject, key, misspelled(key)),
      })),
  ),
  operator('misspell a key of a step', (document) =>
    stepsOf(document, 'standard').flatMap(({ path, value }) =>
      Object.keys(value as JsonObject)
        .filter((key) => isMisspellable(key) && !['prompt', 'promptBlocks', 'title'].includes(key))
        .map((key) => ({
          code: 'unknown_key',
          isWarning: true,
          hasFix: true,
          path: [...path, misspelled(key)],
          document: replaced(document, path, renamedKey(value as JsonObject, key, misspelled(key))),
        })),
    ),
  ),
  inSteps('add a key that does not exist', 'any', {
    code: 'unknown_key',
    isWarning: true,
    put: () => ({ zzz_unheard_of: 1 }),
    at: ['zzz_unheard_of'],
  }),
  inSteps('give the title as a number', 'standard', { code: 'wrong_type', put: () => ({ title: 7 }), at: ['title'] }),
  inSteps('give the prompt as null', 'prompted', { code: 'wrong_type', put: () => ({ prompt: null }), at: ['prompt'] }),
  inSteps('give guidance as one text', 'standard', {
    code: 'wrong_type',
    put: () => ({ guidance: 'One.' }),
    at: ['guidance'],
  }),
  inSteps('give a condition as a text', 'any', {
    code: 'wrong_type',
    put: () => ({ runCondition: 'x > 1' }),
    at: ['runCondition'],
  }),
  operator('give the list of steps as an object', (document) => [
    { code: 'wrong_type', path: ['steps'], document: replaced(document, ['steps'], { a: 1 }) },
  ]),
  operator('write no steps', (document) => [
    { code: 'wrong_value', path: ['steps'], document: replaced(document, ['steps'], []) },
  ]),
  inSteps('misspell the type of a step', 'loop', {
    code: 'wrong_value',
    hasFix: true,
    put: () => ({ type: 'lop' }),
    at: ['type'],
  }),
  inSteps('refer to a condition that is not there', 'any', {
    code: 'unknown_condition',
    put: () => ({ runCondition: ref('zzz-nowhere') }),
    at: ['runCondition', 'conditionId'],
  }),
  operator('misspell the name of a condition', (document) =>
    listOf(document, 'conditions').flatMap((one) => {
      const id = String((one as JsonObject)['id']);
      const steps = [...listOf(document, 'steps'), work('added', { runCondition: ref(`${id}x`) })];
      const path = ['steps', String(steps.length - 1), 'runCondition', 'conditionId'];
      return [{ code: 'unknown_condition', hasFix: true, path, document: replaced(document, ['steps'], steps) }];
    }),
  ),
  inSteps('ask for a contract that is not there', 'standard', {
    code: 'unknown_contract',
    put: () => ({ output: undefined, outputContract: { contractRef: 'project.contracts.own' } }),
    at: ['outputContract', 'contractRef'],
  }),
  inSteps('misspell a contract', 'standard', {
    code: 'unknown_contract',
    hasFix: true,
    put: () => ({ output: undefined, outputContract: { contractRef: 'wr.contracts.finding' } }),
    at: ['outputContract', 'contractRef'],
  }),
  inSteps('write a schema in place of a contract', 'standard', {
    code: 'missing_field',
    put: () => ({ output: undefined, outputContract: { schema: { type: 'object' } } }),
    at: ['outputContract'],
  }),
  inSteps('refer to an assessment that is not there', 'standard', {
    code: 'unknown_assessment',
    put: () => ({ assessmentRefs: ['zzz-nowhere'], assessmentConsequences: [] }),
    at: ['assessmentRefs', '0'],
  }),
  operator('draw a consequence from a level that is not there', (document) =>
    listOf(document, 'assessments').map((one) => {
      const rest = {
        assessmentRefs: [(one as JsonObject)['id'] ?? null],
        assessmentConsequences: [consequence('zzz')],
      };
      const steps = [...listOf(document, 'steps'), work('added', rest)];
      const path = ['steps', String(steps.length - 1), 'assessmentConsequences', '0', 'when', 'anyEqualsLevel'];
      return { code: 'unknown_level', path, document: replaced(document, ['steps'], steps) };
    }),
  ),
  added('give a dimension a single level', {
    list: 'assessments',
    entry: { id: 'added', purpose: 'P.', dimensions: [{ id: 'd', purpose: 'P.', levels: ['only'] }] },
    code: 'wrong_value',
    at: ['dimensions', '0', 'levels'],
  }),
  inSteps('refer to a function that is not there', 'standard', {
    code: 'unknown_function',
    put: () => ({ functionReferences: ['zzzNowhere()'] }),
    at: ['functionReferences', '0'],
  }),
  added('call a template that is not there', {
    list: 'steps',
    entry: { id: 'added', templateCall: { templateId: 'nobody.templates.routine.zzz', args: {} } },
    code: 'unknown_template',
    at: ['templateCall', 'templateId'],
  }),
  added('misspell a template', {
    list: 'steps',
    entry: { id: 'added', type: 'template_call', templateId: 'project.templates.routine.traige', args: {} },
    code: 'unknown_template',
    hasFix: true,
    at: ['templateId'],
  }),
  added('leave out an argument of a template', {
    list: 'steps',
    entry: { id: 'added', templateCall: { templateId: triage, args: {} } },
    code: 'missing_argument',
    at: ['templateCall', 'args'],
  }),
  added('misspell an argument of a template', {
    list: 'steps',
    entry: { id: 'added', type: 'template_call', templateId: triage, args: { subjcet: 'x' } },
    code: 'unknown_argument',
    isWarning: true,
    hasFix: true,
    at: ['args', 'subjcet'],
  }),
  added('probe a capability that is not there', {
    list: 'steps',
    entry: {
      id: 'added',
      templateCall: { templateId: 'wr.templates.capability_probe', args: { capability: 'magic' } },
    },
    code: 'missing_argument',
    at: ['templateCall', 'args', 'capability'],
  }),
  added('switch on a feature that is not there', {
    list: 'features',
    entry: 'wr.features.zzz',
    code: 'unknown_feature',
    at: [],
  }),
  added('misspell a feature', {
    list: 'features',
    entry: { id: 'wr.features.memory_contxt' },
    code: 'unknown_feature',
    hasFix: true,
    at: ['id'],
  }),
  added('set a feature wrongly', {
    list: 'features',
    entry: { id: 'wr.features.subagent_guidance', config: { maxParallel: 0 } },
    code: 'wrong_value',
    at: ['config', 'maxParallel'],
  }),
  added('set a feature that has nothing to set', {
    list: 'features',
    entry: { id: 'wr.features.mode_guidance', config: { loud: true } },
    code: 'wrong_value',
    at: ['config'],
  }),
  inSteps('include a text that is not there', 'prompted', {
    code: 'unknown_ref',
    put: () => ({ prompt: undefined, promptBlocks: { goal: [{ kind: 'ref', refId: 'docs/style.md' }] } }),
    at: ['promptBlocks', 'goal', '0', 'refId'],
  }),
  inSteps('include a text where none may stand', 'prompted', {
    code: 'ref_misplaced',
    put: () => ({
      prompt: undefined,
      promptBlocks: { outputRequired: { a: [{ kind: 'ref', refId: 'wr.refs.memory_usage' }] } },
    }),
    at: ['promptBlocks', 'outputRequired', 'a', '0', 'refId'],
  }),
  operator('use a step id twice', (document) => {
    const [first] = stepsOf(document, 'standard');
    const id = (first?.value as JsonObject | undefined)?.['id'];
    if (id === undefined) return [];
    const steps = [...listOf(document, 'steps'), work(String(id))];
    return [
      {
        code: 'duplicate_id',
        path: ['steps', String(steps.length - 1), 'id'],
        document: replaced(document, ['steps'], steps),
      },
    ];
  }),
  operator('use a loop id twice', (document) => {
    const source = { kind: 'artifact_contract', contractRef: 'wr.contracts.loop_control', loopId: 'twice' };
    const twins = ['one', 'two'].map((id) =>
      loop(`added-${id}`, { type: 'while', maxIterations: 2, conditionSource: source }),
    );
    const steps = [...listOf(document, 'steps'), ...twins];
    const path = ['steps', String(steps.length - 1), 'loop', 'conditionSource', 'loopId'];
    return [{ code: 'duplicate_id', path, document: replaced(document, ['steps'], steps) }];
  }),
  ...(['conditions', 'assessments', 'references', 'extensionPoints', 'functionDefinitions'] as const).map((list) =>
    operator(`use a name twice in ${list}`, (document) => {
      const before = listOf(document, list);
      const [first] = before;
      if (first === undefined) return [];
      const key = { extensionPoints: 'slotId', functionDefinitions: 'name' }[list as string] ?? 'id';
      const path = [list, String(before.length), key];
      return [{ code: 'duplicate_id', path, document: replaced(document, [list], [...before, first]) }];
    }),
  ),
  inSteps('write a step id with spaces', 'standard', {
    code: 'bad_id',
    hasFix: true,
    put: ({ id }) => ({ id: `${String(id)} And More!` }),
    at: ['id'],
  }),
  operator('write a workflow id with spaces', (document) => [
    { code: 'bad_id', hasFix: true, path: ['id'], document: replaced(document, ['id'], 'My Project.Great Flow') },
  ]),
  operator('write a workflow id with two dots', (document) => [
    { code: 'bad_id', hasFix: true, path: ['id'], document: replaced(document, ['id'], 'my.own.flow') },
  ]),
  added('give a fragment a name that cannot be seen', {
    list: 'steps',
    entry: work('added', { promptFragments: [{ id: 'a\u200bb', text: 'T.' }] }),
    code: 'bad_id',
    hasFix: true,
    at: ['promptFragments', '0', 'id'],
  }),
  operator('write a loop without a limit', (document) =>
    stepsOf(document, 'loop').map(({ path, value }) => {
      const settings = 'loop' in (value as JsonObject) ? [...path, 'loop'] : path;
      const changed = replaced(document, [...settings, 'maxIterations'], undefined);
      return { code: 'loop_without_limit', hasFix: true, path: settings, document: changed };
    }),
  ),
  added('let a loop go on longer than its limit', {
    list: 'steps',
    entry: loop('added', { type: 'for', count: 5, maxIterations: 2 }),
    code: 'loop_over_limit',
    at: ['loop', 'maxIterations'],
  }),
  added('let a loop walk over more than its limit', {
    list: 'steps',
    entry: loop('added', { type: 'forEach', items: [1, 2, 3], maxIterations: 2 }),
    code: 'loop_over_limit',
    at: ['loop', 'maxIterations'],
  }),
  added('write a limit of nothing', {
    list: 'steps',
    entry: loop('added', { type: 'for', count: 0, maxIterations: 0 }),
    code: 'wrong_value',
    at: ['loop', 'maxIterations'],
  }),
  added('misspell the type of a loop', {
    list: 'steps',
    entry: loop('added', { type: 'foreach', items: 'x', maxIterations: 2 }),
    code: 'wrong_value',
    hasFix: true,
    at: ['loop', 'type'],
  }),
  added('let nothing end a loop', {
    list: 'steps',
    entry: loop('added', { type: 'while', maxIterations: 2 }),
    code: 'loop_without_control',
    at: [],
  }),
  added('let a loop be controlled by another contract', {
    list: 'steps',
    entry: loop('added', {
      type: 'while',
      maxIterations: 2,
      conditionSource: { kind: 'artifact_contract', contractRef: 'wr.contracts.findings' },
    }),
    code: 'unknown_contract',
    at: ['loop', 'conditionSource', 'contractRef'],
  }),
  added('name a body that is not there', {
    list: 'steps',
    entry: { id: 'added', type: 'loop', loop: { type: 'for', count: 1, maxIterations: 1 }, body: 'zzz-nowhere' },
    code: 'body_not_found',
    at: ['body'],
  }),
  added('name a loop as its own body', {
    list: 'steps',
    entry: { id: 'added', type: 'loop', loop: { type: 'for', count: 1, maxIterations: 1 }, body: 'added' },
    code: 'body_not_found',
    at: ['body'],
  }),
  inSteps('compare twice in one condition', 'any', {
    code: 'two_operators',
    hasFix: true,
    put: () => ({ runCondition: { var: 'n', gt: 1, lt: 5 } }),
    at: ['runCondition', 'lt'],
  }),
  inSteps('misspell an operator', 'any', {
    code: 'unknown_operator',
    hasFix: true,
    put: () => ({ runCondition: { var: 'n', equls: 1 } }),
    at: ['runCondition', 'equls'],
  }),
  inSteps('make up an operator', 'any', {
    code: 'unknown_operator',
    put: () => ({ runCondition: { var: 'n', resembles: 1 } }),
    at: ['runCondition', 'resembles'],
  }),
  inSteps('add a remark to a condition', 'any', {
    code: 'unknown_key',
    put: () => ({ runCondition: { ...condition, remark: 'why' } }),
    at: ['runCondition', 'remark'],
  }),
  inSteps('leave out what a condition compares', 'any', {
    code: 'missing_field',
    put: () => ({ runCondition: { equals: 1 } }),
    at: ['runCondition'],
  }),
  inSteps('compare an order with a word', 'any', {
    code: 'wrong_type',
    put: () => ({ runCondition: { var: 'n', gt: 'many' } }),
    at: ['runCondition', 'gt'],
  }),
  inSteps('join no conditions', 'any', {
    code: 'wrong_value',
    put: () => ({ runCondition: { and: [] } }),
    at: ['runCondition', 'and'],
  }),
  operator('let conditions refer to each other', (document) => {
    const before = listOf(document, 'conditions');
    const circle = [
      { id: 'zzz-a', kind: 'context', condition: ref('zzz-b') },
      { id: 'zzz-b', kind: 'context', not: ref('zzz-a') },
    ];
    const changed = replaced(document, ['conditions'], [...before, ...circle]);
    return [0, 1].map((i) => ({
      code: 'condition_cycle',
      path: ['conditions', String(before.length + i)],
      document: changed,
    }));
  }),
  inSteps('write a pattern that needs to look ahead', 'any', {
    code: 'bad_pattern',
    put: () => ({ runCondition: { var: 'n', matches: '^(?=a)b' } }),
    at: ['runCondition', 'matches'],
  }),
  inSteps('write a pattern that does not end', 'standard', {
    code: 'bad_pattern',
    put: () => ({ validationCriteria: [{ type: 'regex', pattern: '(a', message: 'M.' }] }),
    at: ['validationCriteria', '0', 'pattern'],
  }),
  inSteps('make up a kind of rule', 'standard', {
    code: 'wrong_value',
    hasFix: true,
    put: () => ({ validationCriteria: { type: 'regexp', pattern: 'a', message: 'M.' } }),
    at: ['validationCriteria', 'type'],
  }),
  inSteps('leave a placeholder of the compiler', 'prompted', {
    code: 'placeholder_left',
    put: ({ prompt }) => ({ prompt: `${String(prompt).slice(0, 100)} {{wr.refs.memory_usage}}` }),
    at: ['prompt'],
  }),
  inSteps('fill a slot that is not there', 'prompted', {
    code: 'unknown_slot',
    put: () => ({ prompt: 'Use {{wr.bindings.zzz}}.' }),
    at: ['prompt'],
  }),
  inSteps('write a prompt that is too long', 'prompted', {
    code: 'text_too_long',
    put: () => ({ prompt: 'ü'.repeat(4097) }),
    at: ['prompt'],
  }),
  operator('write a name that is too long', (document) => [
    { code: 'text_too_long', path: ['name'], document: replaced(document, ['name'], 'x'.repeat(129)) },
  ]),
  operator('write an empty description', (document) => [
    { code: 'text_empty', path: ['description'], document: replaced(document, ['description'], '') },
  ]),
  inSteps('write an empty title', 'standard', { code: 'text_empty', put: () => ({ title: '' }), at: ['title'] }),
  inSteps('wait for a choice of no kind', 'standard', {
    code: 'choice_kind_missing',
    put: () => ({ userDependency: { reason: 'needs_user_choice', prompt: 'Which?' } }),
    at: ['userDependency'],
  }),
  inSteps('wait for a reason that is not there', 'standard', {
    code: 'wrong_value',
    hasFix: true,
    put: () => ({ userDependency: { reason: 'needs_user_aproval', prompt: 'May I?' } }),
    at: ['userDependency', 'reason'],
  }),
  inSteps('wait for a key with spaces', 'standard', {
    code: 'bad_id',
    hasFix: true,
    put: () => ({ userDependency: { reason: 'needs_user_artifact', contextKey: 'The Key', prompt: 'Which?' } }),
    at: ['userDependency', 'contextKey'],
  }),
  inSteps('misspell a gate', 'standard', {
    code: 'wrong_value',
    hasFix: true,
    put: () => ({ requireConfirmation: { kind: 'human_aproval' } }),
    at: ['requireConfirmation', 'kind'],
  }),
  operator('declare a capability that is not there', (document) => [
    {
      code: 'unknown_key',
      path: ['capabilities', 'telepathy'],
      document: replaced(document, ['capabilities'], { telepathy: 'required' }),
    },
  ]),
  operator('need a capability in a way that is not there', (document) => [
    {
      code: 'wrong_value',
      hasFix: true,
      path: ['capabilities', 'delegation'],
      document: replaced(document, ['capabilities'], { delegation: 'require' }),
    },
  ]),
  operator('recommend a mode that is not there', (document) => [
    {
      code: 'wrong_value',
      path: ['recommendedPreferences', 'recommendedAutonomy'],
      document: replaced(document, ['recommendedPreferences'], { recommendedAutonomy: 'yolo' }),
    },
  ]),
  added('delegate nothing', {
    list: 'steps',
    entry: { id: 'added', type: 'parallel', title: 'Added', parallelDelegations: [] },
    code: 'wrong_value',
    at: ['parallelDelegations'],
  }),
  {
    name: 'write a key twice',
    mistakes: (document) => {
      const text = JSON.stringify(document, null, 2).replace('{', '{ "name": "First",');
      return [{ text, code: 'duplicate_key', pointer: '/name' }];
    },
  },
  {
    name: 'forget the last bracket',
    mistakes: (document) => [{ text: JSON.stringify(document, null, 2).slice(0, -1), code: 'not_json', pointer: '' }],
  },
  {
    name: 'write a comment',
    mistakes: (document) => [{ text: `// mine\n${JSON.stringify(document)}`, code: 'not_json', pointer: '' }],
  },
];
