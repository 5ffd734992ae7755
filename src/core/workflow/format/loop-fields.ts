import { loopControl } from '../builtins/run-contracts.ts';
import type { SourceNode, SourceObject } from '../source/source-node.ts';
import { condition, confirmation, contextName, loopCondition, wholeCondition } from './condition-fields.ts';
import * as f from './field.ts';
import { functionDefinitions } from './function-fields.ts';
import { ANY_COUNT, ID_BYTES_MAX, ITERATIONS_MAX } from './limits.ts';
import { field, isMisspelled, type Reader, type ReadProblem, reportError } from './reader.ts';
import type { LoopControlSyntax, LoopStepOf, StepHead } from './syntax.ts';
import { mapObject, mapTexts } from './text-walk.ts';

export const STEP_TYPES = ['standard', 'loop', 'template_call', 'parallel'] as const;

/** The fields that every kind of step has. */
export const STEP_HEAD = {
  id: f.needed(f.text(ID_BYTES_MAX, { use: 'label', form: 'safe_id', names: 'step' }), 'Its name in this file.', {
    otherwise: '',
  }),
  type: f.optional(f.choice(STEP_TYPES), 'What kind of step it is. A plain step needs none.'),
  title: f.needed(f.text(256, { use: 'prompt' }), 'What people see. It may contain `{{values}}` of context.', {
    otherwise: '',
  }),
  runCondition: f.optional(
    condition,
    'The step is skipped unless this [condition](#conditions) holds; it is evaluated when the step comes up.',
  ),
  requireConfirmation: f.defaulted(
    confirmation,
    '`true`, a condition, or a [gate](#gate): the agent asks before the run continues.',
    { as: 'confirmation', otherwise: { kind: 'none' } },
  ),
  notesOptional: f.defaulted(f.flag, 'Whether the step can be completed without notes.', {
    as: 'isNotesOptional',
    otherwise: false,
  }),
  modelTier: f.optional(f.ignored, 'Accepted without effect.'),
};

type HeadRead = {
  readonly at: string;
  readonly id: string;
  readonly title: string;
  readonly runCondition?: StepHead['runCondition'];
  readonly confirmation: StepHead['confirmation'];
  readonly isNotesOptional: boolean;
};

/** What every kind of step has in the tree. A condition that is always true is left out. */
export function headOf({ at, id, title, runCondition, confirmation: asked, isNotesOptional }: HeadRead): StepHead {
  const isAsked = runCondition !== undefined && runCondition.kind !== 'always';
  return { at, id, title, confirmation: asked, isNotesOptional, ...(isAsked ? { runCondition } : {}) };
}

const SUGGESTED_LIMIT = 10;
/** Stands for a limit that could not be read, which was reported. */
const UNLIMITED = 0;

const maxIterations = f.needed(
  f.integer(1, ITERATIONS_MAX),
  'The most rounds the loop may have. Wanting more blocks, or is recorded as a gap where nothing may block.',
  { whenMissing: limitMissing, otherwise: UNLIMITED },
);

function limitOf(limit: number): number | undefined {
  return limit === UNLIMITED ? undefined : limit;
}

function limitMissing(settings: SourceObject, keys: readonly string[]): ReadProblem {
  const added = `"maxIterations": ${SUGGESTED_LIMIT}${settings.fields.size === 0 ? '' : ', '}`;
  const edits = [{ offset: settings.span.offset + 1, length: 0, text: added }];
  const isThere = isMisspelled(settings, 'maxIterations', keys);
  return {
    code: 'loop_without_limit',
    message: 'A loop needs "maxIterations", so that it always ends. There is no default; add it.',
    fix: isThere ? undefined : { title: `Insert "maxIterations": ${SUGGESTED_LIMIT}`, edits },
  };
}

const loopId = f.text(ID_BYTES_MAX, { use: 'label', form: 'safe_id', names: 'loop', refersTo: ['loop', 'step'] });
const variable = f.text(64, { use: 'name', form: 'variable', names: 'context_key' });

export const artifactSource = f.closed('artifactSource', {
  kind: f.needed(f.choice(['artifact_contract']), 'The agent decides with an artifact.'),
  contractRef: f.needed(
    f.text(ID_BYTES_MAX, { use: 'label', known: [loopControl.contractRef] }),
    'Only `wr.contracts.loop_control`.',
  ),
  loopId: f.optional(loopId, 'The name of the loop in artifacts.'),
});

function contextSourceOf(type: 'while' | 'until') {
  return f.closed('contextSource', {
    kind: f.needed(f.choice(['context_variable']), 'Values of context decide.'),
    condition: f.needed(loopCondition(type), 'A `while` loop continues while this holds; an `until` loop ends then.'),
  });
}

/** The same in both types of loops, but for what the condition decides. */
export const contextSource = contextSourceOf('while');

const count = f.either(
  'a whole number or the name of a context value',
  f.integer(0, Number.MAX_SAFE_INTEGER),
  contextName,
);
const items = f.either('a list or the name of a context value', contextName, f.jsonList('value'));

const LOOP_TYPES = ['while', 'until', 'for', 'forEach'] as const;
type LoopWord = (typeof LOOP_TYPES)[number];

const VARIABLES = {
  iterationVar: f.defaulted(variable, 'The name of the counter from 1.', {
    as: 'iteration',
    otherwise: 'currentIteration',
  }),
  itemVar: f.defaulted(variable, 'The name of the item, in `forEach`.', { as: 'item', otherwise: 'currentItem' }),
  indexVar: f.defaulted(variable, 'The name of the counter from 0.', { as: 'index', otherwise: 'currentIndex' }),
};

const SAYS = {
  type: 'What makes the loop repeat: `while`, `until`, `for` or `forEach`.',
  condition: 'For `while` and `until`, when values of context decide.',
  conditionSource: 'What decides: the agent with an [artifact](#artifactsource), or [context](#contextsource).',
  items: 'For `forEach`: a list, or the name of a context value. Read once, on entry.',
  count: 'For `for`: a number, or the name of a context value.',
};

/** A setting that has no effect is most likely meant to have one. */
function unused<F extends f.Field>(given: F, why: string): F {
  return { ...given, unused: why };
}

function noEffect(says: string, type: LoopWord): f.Field<never, false> {
  return unused(f.optional(f.ignored, says), `has no effect in a loop of type "${type}"`);
}

type Source = { readonly control: LoopControlSyntax; readonly loopId?: { readonly name: string; readonly at: string } };

/** What the settings of a loop come to. */
type Settings = Source & Pick<LoopStepOf<unknown>, 'maxIterations' | 'variables'>;

type SharedRead = {
  readonly maxIterations: number;
  readonly iteration: string;
  readonly item: string;
  readonly index: string;
};

function withSettings<F extends SharedRead>(
  of: f.Kind<F>,
  control: (read: F, node: SourceNode) => Source,
): f.Kind<Settings> {
  return f.built(of, (read, node, reader) => {
    const { maxIterations: limit, iteration, item, index } = read;
    checkVariables(reader, node);
    return { ...control(read, node), maxIterations: limitOf(limit), variables: { iteration, item, index } };
  });
}

/** The names under which steps find where a loop stands must differ, or one would hide the other. */
function checkVariables(reader: Reader, settings: SourceNode): void {
  const named = Object.entries(VARIABLES).map(([key, { otherwise = '' }]) => {
    const node = settings.kind === 'object' ? field(settings, key) : undefined;
    return { node, name: node?.kind === 'string' ? node.value : otherwise };
  });
  // Defaults come first: it is the written one that can be changed.
  const taken = new Set<string>();
  for (const { node, name } of named.toSorted((a, b) => Number(a.node !== undefined) - Number(b.node !== undefined))) {
    if (node !== undefined && taken.has(name)) {
      const message = `"${name}" is the name of another variable of this loop. Choose another one.`;
      reportError(reader, node, { code: 'duplicate_id', message });
    }
    taken.add(name);
  }
}

function conditionalLoop(type: 'while' | 'until') {
  const sources = {
    artifact_contract: f.built(
      artifactSource,
      ({ contractRef, loopId: name }, { pointer }): Source => ({
        control: { kind: 'artifact', contractRef, at: `${pointer}/contractRef` },
        ...(name === undefined ? {} : { loopId: { name, at: `${pointer}/loopId` } }),
      }),
    ),
    context_variable: f.built(
      contextSourceOf(type),
      ({ condition }): Source => ({ control: { kind: type, condition } }),
    ),
  };
  const common = {
    type: f.needed(f.choice([type]), SAYS.type),
    maxIterations,
    ...VARIABLES,
    itemVar: unused(VARIABLES.itemVar, `has no effect in a loop of type "${type}"`),
    items: noEffect(SAYS.items, type),
    count: noEffect(SAYS.count, type),
  };
  const declared = f.object(`${type}LoopBySource`, {
    ...common,
    condition: unused(f.optional(f.ignored, SAYS.condition), 'does not count beside "conditionSource"'),
    conditionSource: f.needed(f.variants<Source>('kind', sources), SAYS.conditionSource),
  });
  const plain = f.object(`${type}Loop`, { ...common, condition: f.optional(loopCondition(type), SAYS.condition) });
  const kind = f.chosen<Settings>(
    { when: { has: ['conditionSource'] }, of: withSettings(declared, (read) => read.conditionSource) },
    {
      of: withSettings(plain, ({ condition }, node) => {
        if (condition !== undefined) return { control: { kind: 'undeclared', fallback: { kind: type, condition } } };
        // A condition that could not be read was reported.
        const isUnread = node.kind === 'object' && node.fields.has('condition');
        return { control: { kind: isUnread ? 'unknown' : 'undeclared' } };
      }),
    },
  );
  return { kind, objects: [plain, declared] };
}

const whileLoop = conditionalLoop('while');

const forLoop = f.object('forLoop', {
  type: f.needed(f.choice(['for']), SAYS.type),
  maxIterations,
  ...VARIABLES,
  itemVar: unused(VARIABLES.itemVar, 'has no effect in a loop of type "for"'),
  count: f.needed(count, SAYS.count),
  items: noEffect(SAYS.items, 'for'),
  condition: noEffect(SAYS.condition, 'for'),
  conditionSource: noEffect(SAYS.conditionSource, 'for'),
});

const forEachLoop = f.object('forEachLoop', {
  type: f.needed(f.choice(['forEach']), SAYS.type),
  maxIterations,
  ...VARIABLES,
  items: f.needed(items, SAYS.items),
  count: noEffect(SAYS.count, 'forEach'),
  condition: noEffect(SAYS.condition, 'forEach'),
  conditionSource: noEffect(SAYS.conditionSource, 'forEach'),
});

/** All settings of a loop, for the reference page; which of them count depends on `type`. */
export const LOOP_SETTINGS = [...whileLoop.objects, forLoop, forEachLoop];

const loopSettings = f.variants<Settings>('type', {
  while: whileLoop.kind,
  until: conditionalLoop('until').kind,
  for: withSettings(forLoop, (read) => {
    const isNumber = typeof read.count === 'string' && /^\d{1,9}$/.test(read.count);
    return { control: { kind: 'for', count: isNumber ? Number(read.count) : read.count } };
  }),
  forEach: withSettings(forEachLoop, (read) => ({ control: { kind: 'for_each', items: read.items } })),
} satisfies { readonly [type in LoopWord]: f.Kind<Settings> });

/** Stands for settings that could not be read; what is wrong was reported. */
const UNREAD: Settings = {
  control: { kind: 'unknown' },
  maxIterations: undefined,
  variables: { iteration: 'currentIteration', item: 'currentItem', index: 'currentIndex' },
};

function loopBody<Step>(step: f.Kind<Step>): f.Kind<LoopStepOf<Step>['body']> {
  type Body = LoopStepOf<Step>['body'];
  const steps = f.list(step, { min: 1, max: ANY_COUNT });
  const stepId = f.text(ID_BYTES_MAX, { use: 'label', bytesMin: 0, refersTo: ['step', 'loop'] });
  return f.built(
    f.either('a list of steps or a step id', stepId, steps),
    (read, node): Body =>
      typeof read === 'string' ? { kind: 'reference', stepId: read, at: node.pointer } : { kind: 'steps', steps: read },
    (read, change): Body =>
      read.kind === 'steps'
        ? { kind: 'steps', steps: mapTexts(steps, read.steps, change) }
        : { ...read, stepId: mapTexts(stepId, read.stepId, change), at: change.place(read.at, 'at') },
  );
}

/** The two spellings of a loop: settings in an object of their own, or beside the id. */
export function loopKinds<Step>(step: f.Kind<Step>) {
  type LoopStep = LoopStepOf<Step>;
  const body = loopBody(step);
  const common = {
    ...STEP_HEAD,
    id: f.optional(STEP_HEAD.id.kind, 'Its id; `loopId`, if left out.'),
    title: f.optional(STEP_HEAD.title.kind, STEP_HEAD.title.says),
    body: f.needed(body, 'Steps, or the id of one step beside the loop.'),
    functionDefinitions: f.optionalList(functionDefinitions('loop'), 'Functions that the steps of the body see.', {
      as: 'functions',
    }),
  };
  const missing = { code: 'missing_field', message: '"id" is missing here. Add it.' } as const;
  const rules = [{ of: ['id', 'loopId'], none: () => missing }];
  const named = f.optional(loopId, 'The name of the loop in artifacts; its `id`, if left out.');
  const publishedLoop = f.object(
    'publishedLoop',
    { ...common, loopId: named, loop: f.needed(loopSettings, 'The settings of the loop.', { otherwise: UNREAD }) },
    rules,
  );
  const designLoop = f.object(
    'designLoop',
    {
      ...common,
      loopId: named,
      while: f.optional(
        loopCondition('while'),
        'Repeats while this holds. `{"kind": "loop_control"}` lets the agent decide.',
      ),
      maxIterations,
    },
    rules,
  );
  const published = f.built(publishedLoop, ({ loop, ...read }, node) => loopStep(read, loop, node), mapLoop);
  const design = f.built(
    designLoop,
    ({ while: condition, maxIterations: limit, ...read }, node) => {
      const isUnread = condition === undefined && node.kind === 'object' && node.fields.has('while');
      const control: LoopControlSyntax =
        condition === undefined ? { kind: isUnread ? 'unknown' : 'undeclared' } : { kind: 'while', condition };
      return loopStep(read, { ...UNREAD, control, maxIterations: limitOf(limit) }, node);
    },
    mapLoop,
  );
  type LoopRead = Omit<f.Value<typeof publishedLoop>, 'loop'>;

  function loopStep(read: LoopRead, { loopId: inSource, ...settings }: Settings, node: SourceNode): LoopStep {
    const { loopId: own, functions, body: inside } = read;
    const id = read.id ?? own;
    const written = node.kind === 'object' ? field(node, 'loopId') : undefined;
    const loopIdAt = written?.pointer ?? inSource?.at ?? `${read.at}/id`;
    const name = own ?? inSource?.name;
    return {
      ...headOf({ ...read, id: id ?? '', title: read.title ?? id ?? '' }),
      ...settings,
      kind: 'loop',
      body: inside,
      functions,
      loopIdAt,
      ...(name === undefined || read.id === undefined ? {} : { loopId: name }),
    };
  }

  function mapLoop(loop: LoopStep, change: f.TextChange): LoopStep {
    const mapped = mapObject(designLoop.data, { ...loop }, change) as unknown as LoopStep;
    const { iteration, item, index } = loop.variables;
    const rename = (name: string) => mapTexts(variable, name, { ...change, at: loop.at });
    const variables = { iteration: rename(iteration), item: rename(item), index: rename(index) };
    return { ...mapped, variables, control: mapControl(loop.control, { ...change, at: loop.at }) };
  }
  return { published, design, publishedLoop, designLoop };
}

function mapControl(control: LoopControlSyntax, change: f.TextChange): LoopControlSyntax {
  switch (control.kind) {
    case 'while':
    case 'until':
      return { ...control, condition: mapTexts(wholeCondition, control.condition, change) };
    case 'undeclared': {
      const { fallback } = control;
      if (fallback === undefined) return control;
      return {
        ...control,
        fallback: { ...fallback, condition: mapTexts(wholeCondition, fallback.condition, change) },
      };
    }
    case 'for':
      return { ...control, count: mapTexts(count, control.count, change) };
    case 'for_each':
      return { ...control, items: mapTexts(items, control.items, change) };
    case 'artifact':
      return { ...control, at: change.place(control.at, 'at') };
    case 'unknown':
      return control;
  }
}
