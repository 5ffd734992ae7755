import { err } from 'neverthrow';
import { findTargetWorkflow } from '../../app/author/find-targets.ts';
import { defined } from '../../core/json/json-value.ts';
import { plural, sizeOf } from '../../core/text/words.ts';
import {
  type CompiledData,
  type PieceData,
  type WorkflowShowData,
  workflowShowData,
} from '../../core/wire/workflow-shapes.ts';
import { sealWorkflow } from '../../core/workflow/compiled/sealed-workflow.ts';
import { syntaxIn } from '../../core/workflow/format/read-workflow.ts';
import { compiledData } from '../../core/workflow/outline/provenance.ts';
import { workflowOutline, workflowSize } from '../../core/workflow/outline/workflow-outline.ts';
import { command, done } from '../command.ts';
import { dim, type Line, strong } from '../output/line.ts';
import { columnsOf, hangText, textWidth } from '../output/text-width.ts';
import {
  conditionLines,
  conditionsData,
  listedWorkflowData,
  outlineData,
  outlineLines,
  sourceText,
} from './workflow-data.ts';
import { authorProblem, oneWorkflow, pathFrom, WORKFLOW } from './workflow-words.ts';

export const workflowShow = command({
  operands: [WORKFLOW],
  options: [
    {
      flags: '--compiled',
      help: 'also show the compiled form: hashes, checks, output contracts, and the origin of each text that WorkRail adds to a step',
    },
  ],
  example: 'workrail workflow show wr.first_steps',
  data: workflowShowData,
  run: async ({ program, switches }, { operands, options }) => {
    const asked = oneWorkflow(operands, 'workrail workflow show ID');
    if (asked.isErr()) return err(asked.error);
    const author = await program.author();
    const found = await findTargetWorkflow(author, asked.value);
    if (found.isErr()) return err(authorProblem(found.error));
    const { listed } = found.value;
    const { workflow, origin } = listed;
    const syntax = syntaxIn(origin.text);
    const data: WorkflowShowData = {
      ...listedWorkflowData(listed),
      hash: listed.stored?.hash ?? sealWorkflow(workflow, author.tools.sha256).hash,
      ...defined({ version: syntax?.version, about: syntax?.about }),
      examples: syntax?.examples ?? [],
      size: workflowSize(workflow),
      steps: outlineData(workflowOutline(workflow)),
      conditions: conditionsData(workflow),
      ...(options['compiled'] === true && {
        text: origin.text,
        findings: listed.warnings.map(({ line, column, code, message }) => ({ line, column, code, message })),
        compiled: compiledData(workflow, origin, author.tools.sha256),
      }),
    };
    return done({
      data,
      lines: linesOf(data, { workspace: author.workspace, isFull: switches.isVerbose, width: columnsOf(program) }),
      next: `workrail workflow preview ${listed.id} --step ${workflow.steps[0]?.stepId ?? ''}`,
    });
  },
});

/** Wraps a line of text and keeps its indentation; a line that fits is not changed. */
function indentedLines(text: string, indent: string, width: number): readonly Line[] {
  if (textWidth(indent + text) <= width) return [[`${indent}${text}`]];
  const [own = ''] = /^\s*(?:[-*] )?/.exec(text) ?? [];
  const first = `${indent}${own}`;
  return hangText(text.slice(own.length), { first, rest: first.length, width }).map((line): Line => [line]);
}

function linesOf(
  data: WorkflowShowData,
  { workspace, isFull, width }: { readonly workspace: string; readonly isFull: boolean; readonly width: number },
): readonly Line[] {
  const { id, name, version, description, about, examples, tags, path, size, steps, shadows } = data;
  const { median, max, total } = size.promptBytes;
  const label = (text: string) => strong(text);
  const wrapped = (text: string, indent = '') => indentedLines(text, indent, width);
  const labelled = (name: string, text: string) => {
    const [first = '', ...rest] = hangText(text, { first: '', rest: name.length, width });
    return [[label(name), first.slice(name.length)], ...rest.map((line): Line => [line])];
  };
  return [
    [label(id), `  ${name}`, dim(version === undefined ? '' : `  ${version}`)],
    ...wrapped(description),
    ...(about === undefined ? [] : [[], ...about.split('\n').flatMap((line) => wrapped(line))]),
    ...(examples.length === 0 ? [] : [[], [label('Examples')], ...examples.flatMap((one) => wrapped(one, '  '))]),
    [],
    [label('Steps')],
    ...outlineLines(steps, { isFull, width }),
    ...conditionLines(data.conditions, width),
    [],
    ...labelled(
      'Size   ',
      `${plural(size.steps, 'step')} (${size.conditional} conditional), ${plural(size.loops, 'loop')}; prompts: ${sizeOf(total)} in total, median ${sizeOf(median)}, longest ${sizeOf(max)}`,
    ),
    ...labelled('Source ', `${sourceText(data)}, ${pathFrom(path, workspace)}`),
    ...shadows.flatMap((shadow) => labelled('Overrides ', pathFrom(shadow, workspace))),
    ...(tags.length === 0 ? [] : labelled('Tags   ', tags.join(', '))),
    ...(data.compiled === undefined ? [] : compiledLines(data.compiled)),
  ];
}

/** The hashes, and every text that the author of the file did not write. */
function compiledLines({ hash, sourceHash, inputs, contracts, rules, steps }: CompiledData): readonly Line[] {
  const addedBy = (title: string, pieces: readonly PieceData[]): readonly Line[] =>
    pieces.flatMap(({ text, from }): readonly Line[] => {
      const [first = ''] = text.trim().split('\n');
      return from === undefined ? [] : [[`  ${title}: `, strong(from.id), dim(`  ${first.slice(0, TEXT_SHOWN)}`)]];
    });
  const headed = (title: string, lines: readonly Line[]): readonly Line[] =>
    lines.length === 0 ? [] : [[strong(title)], ...lines];
  return [
    [],
    [strong('Hash   '), hash],
    [strong('Made of'), ` ${sourceHash}`],
    ...inputs.map(({ kind, name, digest }): Line => [`  ${kind} ${name}  `, dim(digest)]),
    ...headed('Added texts', [...addedBy('rule', rules), ...steps.flatMap(({ id, pieces }) => addedBy(id, pieces))]),
    ...headed(
      'Checks',
      steps.flatMap(({ id: step, checks = [] }) =>
        checks.map(
          ({ id, command: run, minimum }): Line => [`  ${step}: `, strong(id), `  at least ${minimum}  ${run}`],
        ),
      ),
    ),
    ...headed(
      'Contracts',
      contracts.map(({ contractRef, steps: asking }): Line => [`  ${contractRef}`, dim(`  ${asking.join(', ')}`)]),
    ),
  ];
}

const TEXT_SHOWN = 60;
