import { workflowSize } from '../../src/core/workflow/outline/workflow-outline.ts';
import { bundledLibrary } from './bundled-library.ts';
import { cell, grouped } from './markdown.ts';
import { pathSizes } from './path-sizes.ts';

type Library = ReturnType<typeof bundledLibrary>;
type Listed = Library['workflows'][number];

/** What comes with the program, for people who choose. */
export function galleryPage(root: string): string {
  const { workflows, routines } = bundledLibrary(root);
  return [
    '# The bundled workflows',
    '',
    'Generated from `workflows/`; do not edit. `workrail workflow show ID` describes one and lists its steps; `workrail workflow copy ID` makes a copy that you can change.',
    '',
    'The first step of each workflow decides how big the task is, and the rest depends on that. The numbers are the steps of its first scenario of that size, where lists have one to three entries. Questions to you and further rounds are extra.',
    '',
    '| Workflow | Small | Medium | Large | Prompts, median / longest |',
    '|---|---|---|---|---|',
    ...workflows.map((listed) => row(listed, root)),
    '',
    ...workflows.flatMap(sectionOf),
    '## Routines',
    '',
    'Sequences of steps that workflows call. You can also start each one directly.',
    '',
    '| Routine | What it does | Steps |',
    '|---|---|---|',
    ...routines.map(
      ({ syntax: { id, description }, workflow }) => `| \`${id}\` | ${cell(description)} | ${workflow.steps.length} |`,
    ),
    '',
  ].join('\n');
}

function row({ syntax: { id, name }, workflow }: Listed, root: string): string {
  const { steps, promptBytes } = workflowSize(workflow);
  const sizes = pathSizes(root, id);
  const shown = sizes.some((size) => size !== undefined) ? sizes.map((size) => size ?? '–') : [steps, '–', '–'];
  const bytes = `${grouped(promptBytes.median)} / ${grouped(promptBytes.max)} B`;
  return `| [${name}](#${anchor(name)}) | ${shown.join(' | ')} | ${bytes} |`;
}

function sectionOf({ syntax: { id, name, description, about = description, examples } }: Listed): readonly string[] {
  const [purpose = about, ...others] = about.split('\n\n');
  const rest = others.filter((paragraph) => /^(What you get:|Not for )/.test(paragraph));
  const goals = examples.map((goal) => `“${goal}”`).join(', ');
  return [
    `## ${name}`,
    '',
    `\`${id}\`. ${purpose}`,
    '',
    ...rest.flatMap((paragraph) => [paragraph, '']),
    ...(goals === '' ? [] : [`For example: ${goals}.`, '']),
  ];
}

function anchor(name: string): string {
  return name.toLowerCase().replaceAll(' ', '-');
}
