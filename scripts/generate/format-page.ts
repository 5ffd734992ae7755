import { KEYS } from '../../src/core/workflow/format/keys.ts';
import { FIELD_TEXTS } from './format-texts.ts';
import { cell } from './markdown.ts';

type ObjectName = keyof typeof KEYS;
type Section = { readonly title: string; readonly words?: string; readonly objects: readonly ObjectName[] };

/** Every object of a workflow file under a heading; a list that misses one does not compile to a whole page. */
const SECTIONS: readonly Section[] = [
  { title: 'The file', objects: ['workflow', 'capabilities', 'feature', 'recommended'] },
  {
    title: 'Steps',
    words:
      'A plain step has `prompt` or `promptBlocks`. Notes are required of it, unless it has `notesOptional` or a contract. `{{name}}` in prompts and titles stands for a value of context or of a loop; `[unset: name]` is shown where there is none.',
    objects: ['stepHead', 'standardStep', 'promptBlocks', 'textPart', 'refPart', 'fragment', 'verification', 'audit'],
  },
  {
    title: 'Loops',
    words:
      'Two spellings mean the same: settings beside the id, or in an object of their own. Where the agent decides and no step of the body has the loop-control contract, a deciding step is added. A loop by decision always has its first round.',
    objects: ['designLoop', 'publishedLoop', 'loopSettings', 'artifactSource', 'contextSource'],
  },
  {
    title: 'Calls and delegation',
    words:
      'A call puts the steps of a routine in its place, before anything runs. `{argument}` in their texts is filled in.',
    objects: ['designCall', 'publishedCall', 'parallelStep', 'delegation', 'synthesis'],
  },
  {
    title: 'Conditions',
    words:
      '`{"var": …, operator: …}` with one operator, `{"and": […]}`, `{"or": […]}`, `{"not": …}`, or the name of a condition. `{}` always holds. A named condition has an `id` and a `kind`: `always_true`, `always_false`, `context` (with a comparison beside it) or `loop_control`.',
    objects: ['comparison', 'conditionRef', 'gate'],
  },
  {
    title: 'What is handed in',
    words: 'All that a step asks for is checked together, and told together where it is missing.',
    objects: [
      'output',
      'assessment',
      'dimension',
      'consequence',
      'consequenceWhen',
      'consequenceEffect',
      'userDependency',
    ],
  },
  {
    title: 'Criteria',
    words: 'A list of rules, all of which must be met, or `{"and": […]}`, `{"or": […]}`, `{"not": …}`.',
    objects: ['containsRule', 'regexRule', 'lengthRule', 'schemaRule'],
  },
  {
    title: 'Declarations',
    objects: ['functionDefinition', 'parameter', 'functionCall', 'extensionPoint', 'reference'],
  },
];

/** Every field that an author may write, from the lists that the compiler reads by. */
export function formatPage(): string {
  const told = new Set(SECTIONS.flatMap(({ objects }) => objects));
  const untold = (Object.keys(KEYS) as ObjectName[]).filter((name) => !told.has(name));
  if (untold.length > 0) throw new Error(`no section of the page tells of ${untold.join(', ')}`);
  return [
    '# The workflow file',
    '',
    'Generated from the lists of keys that the compiler reads by; do not edit. A guide is in [Write a workflow](../guides/author-a-workflow.md); editors take [workflow.schema.json](../../schemas/workflow.schema.json).',
    '',
    'One JSON file per workflow. Two spellings exist for some things, and may be mixed. A key that is not known is a warning with a suggestion; inside of conditions and other closed objects it is an error. Keys that begin with `$` are for editors. Sizes are bytes of UTF-8.',
    '',
    ...SECTIONS.flatMap(({ title, words, objects }) => [
      `## ${title}`,
      '',
      ...(words === undefined ? [] : [words, '']),
      ...objects.flatMap((name) => [
        `### ${name}`,
        '',
        '| Field | Meaning |',
        '|---|---|',
        ...Object.entries(FIELD_TEXTS[name]).map(([field, text]) => `| \`${field}\` | ${cell(text)} |`),
        '',
      ]),
    ]),
  ].join('\n');
}
