import * as budgets from '../../src/core/log/budgets.ts';
import { PATTERNS_MAX } from '../../src/core/workflow/emit/check-workflow.ts';
import { CALLS_DEEP_MAX } from '../../src/core/workflow/expand/expand-steps.ts';
import { EXPANSION_MAX } from '../../src/core/workflow/expand/expanded.ts';
import { FILLED_LENGTH_MAX } from '../../src/core/workflow/expand/fill-text.ts';
import { REFS_PER_STEP_BYTES_MAX } from '../../src/core/workflow/expand/render-prompt.ts';
import * as checks from '../../src/core/workflow/format/check-fields.ts';
import * as conditions from '../../src/core/workflow/format/condition-fields.ts';
import * as criteria from '../../src/core/workflow/format/criteria-fields.ts';
import type { Field, Fields, Kind, KindData, ObjectData, ObjectKind } from '../../src/core/workflow/format/field.ts';
import * as functions from '../../src/core/workflow/format/function-fields.ts';
import {
  ARGUMENT_BYTES_MAX,
  ITERATIONS_MAX,
  LIST_MAX,
  PROMPT_BYTES_MAX,
} from '../../src/core/workflow/format/limits.ts';
import * as loops from '../../src/core/workflow/format/loop-fields.ts';
import * as prompts from '../../src/core/workflow/format/prompt-fields.ts';
import * as steps from '../../src/core/workflow/format/step-fields.ts';
import * as file from '../../src/core/workflow/format/workflow-fields.ts';
import {
  FILE_DEPTH_MAX,
  FILE_KEY_LENGTH_MAX,
  FILE_VALUES_MAX,
  WORKFLOW_FILE_BYTES_MAX,
} from '../../src/core/workflow/source/parse-source.ts';
import { cell } from './markdown.ts';
import { workflowSchema } from './workflow-schema.ts';

type Section = { readonly title: string; readonly words?: string; readonly objects: readonly ObjectKind<Fields>[] };

/** Every object of a workflow file under a heading. */
const SECTIONS: readonly Section[] = [
  { title: 'The file', objects: [file.workflow, file.capabilities, file.feature, file.recommended] },
  {
    title: 'Steps',
    words:
      'A plain step has `prompt` or `promptBlocks`. It requires notes, unless it has `notesOptional` or a contract. `{{name}}` in prompts and titles stands for a value of context or of a loop; `[unset: name]` is shown where there is none.',
    objects: [
      steps.standardStep,
      prompts.promptBlocks,
      prompts.textPart,
      prompts.refPart,
      steps.fragment,
      steps.verification,
      steps.audit,
    ],
  },
  {
    title: 'Loops',
    words:
      'Two spellings mean the same: settings beside the id, or in an object of their own. Where the agent decides and no step of the body has the loop-control contract, a deciding step is added. A loop that the agent decides about always has a first round.',
    objects: [steps.designLoop, steps.publishedLoop, loopSettings(), loops.artifactSource, loops.contextSource],
  },
  {
    title: 'Calls and delegation',
    words:
      'A call is replaced by the steps of a routine before anything runs. `{name}` in their texts is filled in with the argument of that name. A routine that is started directly asks for its arguments in the form of the first step. In an older routine without `arguments`, every name in single braces is one.',
    objects: [
      file.argument,
      steps.designCall,
      steps.publishedCall,
      steps.templateCall,
      steps.parallelStep,
      steps.delegation,
      steps.synthesis,
    ],
  },
  {
    title: 'Conditions',
    words:
      '`{"var": …, operator: …}` with one operator, `{"and": […]}`, `{"or": […]}`, `{"not": …}`, or an object with a `kind`. `{}` always holds. An entry of `conditions` has an `id` and a `kind`.',
    objects: [
      conditions.comparison,
      conditions.combination,
      conditions.constantCondition,
      conditions.conditionRef,
      conditions.contextCondition,
      conditions.loopControlCondition,
      conditions.gate,
    ],
  },
  {
    title: 'What is handed in',
    words: 'Everything that a step asks for is checked together, and everything missing is reported together.',
    objects: [
      steps.outputContract,
      steps.output,
      file.assessment,
      file.dimension,
      steps.consequence,
      steps.consequenceWhen,
      steps.consequenceEffect,
      steps.userDependency,
      checks.check,
      steps.accountFor,
      steps.collection,
    ],
  },
  {
    title: 'Criteria',
    words: 'A list of rules, all of which must be met, or a combination of such lists.',
    objects: [
      criteria.containsRule,
      criteria.regexRule,
      criteria.lengthRule,
      criteria.schemaRule,
      criteria.andCriteria,
      criteria.orCriteria,
      criteria.notCriteria,
    ],
  },
  {
    title: 'Declarations',
    objects: [
      functions.functionDefinition,
      functions.parameter,
      functions.functionCall,
      file.extensionPoint,
      file.reference,
    ],
  },
];

const SHOWN = new Set(SECTIONS.flatMap(({ objects }) => objects.map(({ data }) => data.name)));

/** Variants of other objects, which the page describes with them. */
const WITH_OTHERS =
  /^(?:condition|wholeC.*|namedCondition|noCondition|criteria|step|unknownStep|something|(?:while|until|for).*Loop.*)$/;

/** One object for the settings of all types of loops. */
function loopSettings(): ObjectKind<Fields> {
  const fields: { [name: string]: Field } = {};
  for (const { data } of loops.LOOP_SETTINGS) {
    for (const [name, field] of Object.entries(data.fields)) {
      const known = fields[name];
      if (known === undefined || known.kind.data.kind === 'ignored')
        fields[name] = { ...field, isNeeded: isAlways(name) };
    }
  }
  return { data: { kind: 'object', name: 'loopSettings', fields, isClosed: false, rules: [] }, fields };
}

function isAlways(name: string): boolean {
  return loops.LOOP_SETTINGS.every(({ data }) => data.fields[name]?.isNeeded === true);
}

/** Every field that an author may write, from the tables that the compiler reads by. */
export function formatPage(): string {
  const defined = Object.keys(workflowSchema()['$defs'] as object);
  const missing = defined.filter((name) => !SHOWN.has(name) && !WITH_OTHERS.test(name));
  if (missing.length > 0) throw new Error(`no section of the page describes ${missing.join(', ')}`);
  return [
    '# The workflow file',
    '',
    'Generated from the field tables in `src/core/workflow/format`; do not edit. A guide is in [Write a workflow](../guides/author-a-workflow.md); editors use [workflow.schema.json](../../schemas/workflow.schema.json).',
    '',
    'One JSON file per workflow. Some things have two spellings, which may be mixed. An unknown key is a warning with a suggestion; inside conditions and other closed objects it is an error. Keys that begin with `$` are for editors. Sizes are bytes of UTF-8.',
    '',
    ...BINDINGS_LINES,
    ...limitLines(),
    ...SECTIONS.flatMap(({ title, words, objects }) => [
      `## ${title}`,
      '',
      ...(words === undefined ? [] : [words, '']),
      ...objects.flatMap(({ data }) => objectLines(data)),
    ]),
  ].join('\n');
}

const BINDINGS_LINES = [
  '## Texts of a project: `.workrail/bindings.json`',
  '',
  'An object in the workspace with a text for each extension point, for all workflows of the project. A slot that is not there keeps its default. A slot that accepts routines takes the template id of one.',
  '',
  '```json',
  JSON.stringify({ build: 'npm run build', review: 'project.templates.routine.review' }, null, 2),
  '```',
  '',
  `Each text has at most ${ARGUMENT_BYTES_MAX} bytes. Keys that begin with \`$\` are ignored. Prompts mark these texts as the project's, and \`workrail workflow check\` reports a misspelled slot.`,
  '',
];

/** What no single field says. */
function limitLines(): readonly string[] {
  const rows: readonly (readonly [string, number, string])[] = [
    ['A workflow file', WORKFLOW_FILE_BYTES_MAX, 'bytes'],
    ['Values in a file', FILE_VALUES_MAX, ''],
    ['Levels of nesting in a file', FILE_DEPTH_MAX, ''],
    ['Length of a key', FILE_KEY_LENGTH_MAX, 'characters'],
    ['Steps and loops of a workflow, with those of its routines', budgets.WORKFLOW_ENTRIES_MAX, ''],
    ['Calls of routines, with calls inside of them', EXPANSION_MAX.calls, ''],
    ['Routines that call each other', CALLS_DEEP_MAX, 'levels'],
    ['A step id with the ids of the calls around it', budgets.STEP_ID_LENGTH_MAX, 'characters'],
    ['The ids of a loop and the loops around it together', budgets.LOOP_IDS_LENGTH_MAX, 'characters'],
    ['A prompt in `promptBlocks`', PROMPT_BYTES_MAX, 'bytes'],
    ['A text with everything filled in while compiling', FILLED_LENGTH_MAX, 'characters'],
    ['Bundled texts of one step', REFS_PER_STEP_BYTES_MAX, 'bytes'],
    ['Definitions of functions shown with one step', budgets.FUNCTIONS_BYTES_MAX, 'bytes'],
    ['Everything that one step may show', budgets.STEP_BYTES_MAX, 'bytes'],
    ['An argument of a call, or the text of an extension point', ARGUMENT_BYTES_MAX, 'bytes'],
    ['A context value shown in a prompt', budgets.SHOWN_VALUE_BYTES_MAX, 'bytes; longer ones are cut'],
    ['Patterns of a workflow', PATTERNS_MAX, ''],
    ['Rounds of a loop', ITERATIONS_MAX, ''],
    ['The list that a `forEach` loop iterates over', budgets.LOOP_ITEMS_BYTES_MAX, 'bytes'],
    ['Steps skipped in a row by conditions inside of loops', budgets.WALK_PASSED_MAX, ''],
    ['Notes of a step', budgets.NOTE_BYTES_MAX, 'bytes; longer ones are cut'],
    ['An artifact', budgets.ARTIFACT_BYTES_MAX, 'bytes'],
    ['Artifacts in one call', budgets.ARTIFACTS_PER_CALL_MAX, ''],
    ['The context of a run', budgets.CONTEXT_BYTES_MAX, 'bytes'],
    ['The goal of a run', budgets.GOAL_BYTES_MAX, 'bytes'],
    ['Entries of any other list', LIST_MAX, ''],
  ];
  return [
    '## Limits',
    '',
    'Limits of a single field are in its table below. These are all others.',
    '',
    '| What | At most |',
    '|---|---|',
    ...rows.map(
      ([what, most, unit]) => `| ${what} | ${most.toLocaleString('en-US')}${unit === '' ? '' : ` ${unit}`} |`,
    ),
    '',
  ];
}

function objectLines({ name, fields, isClosed }: ObjectData): readonly string[] {
  return [
    `### ${name}`,
    '',
    ...(isClosed ? ['Closed: any other key is an error.', ''] : []),
    '| Field | Type | Meaning |',
    '|---|---|---|',
    ...Object.entries(fields).map(
      ([field, one]) => `| \`${field}\` | ${cell(typeWords(one.kind))} | ${cell(meaning(one))} |`,
    ),
    '',
  ];
}

function meaning({ says, isNeeded, otherwise, isLabel }: Field): string {
  const shown =
    !isNeeded && otherwise !== undefined && (typeof otherwise !== 'object' || otherwise === null) && otherwise !== '';
  return `${isNeeded ? '**Required.** ' : ''}${says}${shown ? ` Default: \`${String(otherwise)}\`.` : ''}${isLabel === true ? ' A wrong value is a warning.' : ''}`;
}

/** The words of a type, with its limits apart: inside of other words they are in parentheses. */
type TypeWords = { readonly words: string; readonly limits: readonly string[] };

function typeWords(kind: Kind): string {
  const options = alternatives(kind);
  const [only] = options;
  if (only === undefined || options.length > 1) return eitherWords(options);
  const { words, limits } = plainWords(only);
  return [words, ...limits].join(', ');
}

/** What a value may be, each once. */
function alternatives(kind: Kind): readonly Kind[] {
  return [...new Map(flatAlternatives(kind).map((one) => [withLimits(plainWords(one)), one])).values()];
}

/** The alternatives of alternatives, too. */
function flatAlternatives(kind: Kind): readonly Kind[] {
  const { data } = kind;
  switch (data.kind) {
    case 'either':
      return data.options.flatMap(flatAlternatives);
    case 'variants':
      return Object.values(data.of).flatMap(flatAlternatives);
    case 'chosen':
      return data.options.flatMap(({ of }) => flatAlternatives(of));
    case 'built':
    case 'without':
      return flatAlternatives(data.of);
    case 'special':
      return data.fits().slice(0, 1).flatMap(flatAlternatives);
    default:
      return [kind];
  }
}

/** Lists are last: a list of all alternatives that come before it is a list of these. */
function eitherWords(options: readonly Kind[]): string {
  const others = options.filter(({ data }) => data.kind !== 'list').flatMap(insideWords);
  const lists = options.flatMap(({ data }) => {
    if (data.kind !== 'list') return [];
    const isOfThese = alternatives(data.of).flatMap(insideWords).join() === others.join();
    return [isOfThese ? 'a list of these' : `a ${withLimits(listWords(data))}`];
  });
  const words = [...others, ...lists];
  return `${words.slice(0, -1).join(', ')}${lists.length > 0 ? ', or' : ' or'} ${words.at(-1)}`;
}

function insideWords(kind: Kind): readonly string[] {
  if (kind.data.kind === 'flag') return ['`true`', '`false`'];
  const words = withLimits(plainWords(kind));
  if (/^(?:text|letters|any|`|\[criteria|\[\w+Criteria)/.test(words)) return [words];
  const article = words.startsWith('name of a ') ? 'the' : /^\[?[aeiou]/.test(words) ? 'an' : 'a';
  return [`${article} ${words}`];
}

function withLimits({ words, limits }: TypeWords): string {
  return limits.length === 0 ? words : `${words} (${limits.join(', ')})`;
}

function plainWords({ data }: Kind): TypeWords {
  switch (data.kind) {
    case 'text':
      return textWords(data);
    case 'list':
      return listWords(data);
    case 'integer':
      return data.max === Number.MAX_SAFE_INTEGER
        ? { words: `whole number from ${data.min}`, limits: [] }
        : { words: 'whole number', limits: [`${data.min} to ${data.max}`] };
    default:
      return { words: fixedWords(data), limits: [] };
  }
}

function fixedWords(data: KindData): string {
  switch (data.kind) {
    case 'choice':
      return data.choices.map((one) => `\`${one}\``).join(', ');
    case 'flag':
      return '`true` or `false`';
    case 'numeric':
      return 'number';
    case 'json':
      return data.only === undefined ? 'any JSON' : data.only === 'array' ? 'list' : 'object';
    case 'texts':
      return 'object of texts';
    case 'record':
      return `object; each value is ${typeWords(data.of)}`;
    case 'object':
      return objectWords(data);
    case 'lazy':
      return LAZY_WORDS[data.name] ?? data.name;
    default:
      return 'any JSON';
  }
}

const CONDITION = '[condition](#conditions)';

/** A link to where the object is described; some are described with others. */
function objectWords({ name }: ObjectData): string {
  if (SHOWN.has(name)) return `[${name}](#${name.toLowerCase()})`;
  if (name.endsWith('Condition')) return CONDITION;
  if (/Loop(?:BySource)?$/.test(name)) return '[loopSettings](#loopsettings)';
  throw new Error(`the page does not say where ${name} is described`);
}

const LAZY_WORDS: { readonly [name: string]: string } = {
  // Without a name it is a condition beside its `kind`.
  '': CONDITION,
  condition: CONDITION,
  wholeCondition: CONDITION,
  criteria: '[criteria](#criteria)',
  step: '[step](#steps)',
};

function textWords({ bytesMin, bytesMax, known, form }: Extract<KindData, { kind: 'text' }>): TypeWords {
  if (known !== undefined) return { words: known.length === 1 ? `\`${known[0]}\`` : 'name of a built-in', limits: [] };
  const words = form === undefined ? 'text' : FORM_WORDS[form];
  return { words, limits: [bytesMin > 1 ? `${bytesMin} to ${bytesMax} bytes` : `up to ${bytesMax} bytes`] };
}

const FORM_WORDS: { readonly [form in NonNullable<Extract<KindData, { kind: 'text' }>['form']>]: string } = {
  workflow_id: 'id',
  version: 'version',
  safe_id: 'id of lower-case letters, digits, `_` and `-`',
  plain_name: 'name of letters, digits, `_`, `-` and `.`',
  variable: 'name of letters, digits, `_` and `-`',
  context_key: 'context key of lower-case letters, digits, `_` and `-`',
  context_name: 'name of a context value',
  function_name: 'name of letters, digits and `_`',
  form_line: 'line with at least one blank `<fill: …>`',
  inside_path: 'path inside the workspace',
  id_prefix: 'one to four capital letters',
  argument_name: 'name of letters, digits and `_`',
  flags: 'letters',
};

function listWords({ of, min, max }: Extract<KindData, { kind: 'list' }>): TypeWords {
  const limits = [...(min > 0 ? [`at least ${min}`] : []), ...(max < 1000 ? [`at most ${max}`] : [])];
  const entries = typeWords(of);
  return { words: `list ${alternatives(of).length > 1 ? 'whose entries are' : 'of'} ${entries}`, limits };
}
