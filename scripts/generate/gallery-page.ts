import { type OutlineEntry, workflowOutline } from '../../src/core/workflow/outline/workflow-outline.ts';
import { workflowSize } from '../../src/core/workflow/outline/workflow-size.ts';
import { bundledLibrary } from './bundled-library.ts';
import { cell, grouped } from './markdown.ts';

type Library = ReturnType<typeof bundledLibrary>;
type Listed = Library['workflows'][number];

/** What comes with the program, for people who choose. */
export function galleryPage(root: string): string {
  const { workflows, routines } = bundledLibrary(root);
  return [
    '# The workflows that come with it',
    '',
    'Generated from `workflows/`; do not edit. `workrail workflow show ID` tells the same of any workflow, `workrail workflow copy ID` makes one your own.',
    '',
    ...tableOf(workflows),
    '',
    ...workflows.flatMap(sectionOf),
    '## Routines',
    '',
    'Steps that workflows call, each also a workflow that can be started by itself.',
    '',
    ...tableOf(routines),
    '',
  ].join('\n');
}

function tableOf(listed: readonly Listed[]): readonly string[] {
  return [
    '| Workflow | What it does | Steps | Prompts, median / longest |',
    '|---|---|---|---|',
    ...listed.map(({ syntax, workflow }) => {
      const { steps, promptBytes } = workflowSize(workflow);
      const sizes = `${grouped(promptBytes.median)} / ${grouped(promptBytes.max)} B`;
      return `| \`${syntax.id}\` | ${cell(syntax.description)} | ${steps} | ${sizes} |`;
    }),
  ];
}

function sectionOf({ syntax, workflow }: Listed): readonly string[] {
  const { id, name, about, examples } = syntax;
  return [
    `## ${name}`,
    '',
    `\`${id}\``,
    '',
    ...(about === undefined ? [] : [about, '']),
    ...(examples.length === 0 ? [] : ['For example:', '', ...examples.map((goal) => `- ${goal}`), '']),
    '<details><summary>Its steps</summary>',
    '',
    ...outlineOf(workflowOutline(workflow), ''),
    '',
    '</details>',
    '',
  ];
}

function outlineOf(entries: readonly OutlineEntry[], indent: string): readonly string[] {
  return entries.flatMap((entry) => {
    const when = entry.when === undefined ? '' : ` *(when ${entry.when})*`;
    if (entry.kind === 'step') return [`${indent}- ${entry.step.title}${when}`];
    return [`${indent}- ↻ ${entry.loop.title}: ${entry.repeats}${when}`, ...outlineOf(entry.body, `${indent}  `)];
  });
}
