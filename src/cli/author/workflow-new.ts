import { err, ok, type Result } from 'neverthrow';
import { newWorkflow } from '../../app/author/new-workflow.ts';
import { STARTERS, type StarterName } from '../../app/author/starters.ts';
import { nearest } from '../../core/text/spelling.ts';
import { creatableId } from '../../core/workflow/format/read-names.ts';
import type { CommandContext, CommandInput, CommandProblem, RunCommand } from '../command.ts';
import { BROKEN_OFF, pathFrom, wrongUse } from './workflow-words.ts';
import { readDestination, type WorkflowNewData, writeProblem } from './written-workflow.ts';

const NAMES = Object.keys(STARTERS) as StarterName[];

export const workflowNew: RunCommand = async (context, input) => {
  const to = readDestination(input.options['to']);
  if (to.isErr()) return err(to.error);
  const wanted = await wantedFrom(context, input);
  if (wanted.isErr()) return err(wanted.error);
  const bench = await context.program.bench();
  const written = await newWorkflow(bench, { ...wanted.value, to: to.value });
  if (written.isErr()) return err(writeProblem(written.error));
  const { id, starter } = wanted.value;
  const { path, scenarios } = written.value;
  const data: WorkflowNewData = { id, starter, path, scenarios };
  return ok({
    kind: 'done',
    data,
    lines: [
      [{ text: '✓ ', style: 'good' }, `${pathFrom(path, bench.workspace)}  ${STARTERS[starter].summary}`],
      [{ text: '✓ ', style: 'good' }, `${pathFrom(scenarios, bench.workspace)}  scenarios that it passes`],
    ],
    next: `workrail workflow check ${id} --watch`,
  });
};

type Wanted = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly starter: StarterName;
};

/** From what was typed; what is missing is asked for where somebody can answer. */
async function wantedFrom(
  context: CommandContext,
  { operands, options }: CommandInput,
): Promise<Result<Wanted, CommandProblem>> {
  const { program, switches } = context;
  const [typed, ...more] = operands;
  if (more.length > 0) return err(wrongUse('One workflow at a time.', 'Type workrail workflow new ID'));
  const { terminal } = program;
  const isAsked = terminal.isInput() && terminal.isError() && options['yes'] !== true && !switches.isJson;
  const id = typed ?? (isAsked ? await askId(context) : undefined);
  if (id === undefined) return err(isAsked ? BROKEN_OFF : NO_ID);
  const creatable = creatableId(id);
  if (creatable.isErr()) return err(writeProblem(creatable.error));
  const starter = await starterFrom(context, options['template'], isAsked);
  if (starter.isErr()) return err(starter.error);
  const plain = id.slice(id.indexOf('.') + 1).replaceAll(/[_-]+/g, ' ');
  const name = await textFrom(context, {
    option: options['name'],
    isAsked,
    message: 'Its name',
    initial: capitalised(plain),
  });
  const description = await textFrom(context, {
    option: options['description'],
    isAsked,
    message: 'What it does, in a sentence',
    initial: `${capitalised(plain)}, step by step.`,
  });
  if (name === undefined || description === undefined) return err(BROKEN_OFF);
  return ok({ id, name, description, starter: starter.value });
}

async function askId({ program }: CommandContext): Promise<string | undefined> {
  const ask = await program.ask();
  return ask.write({
    message: 'The id of the workflow (namespace.name)',
    check: (text) => {
      const creatable = creatableId(text);
      return creatable.isErr() ? writeProblem(creatable.error).error.suggestion : undefined;
    },
  });
}

async function starterFrom(
  { program }: CommandContext,
  option: unknown,
  isAsked: boolean,
): Promise<Result<StarterName, CommandProblem>> {
  if (option === undefined && !isAsked) return ok('blank');
  if (option === undefined) {
    const choices = NAMES.map((value) => ({ value, label: value, hint: STARTERS[value].summary }));
    const picked = await (await program.ask()).pick({ message: 'Begin with', choices });
    const name = NAMES.find((one) => one === picked);
    return name === undefined ? err(BROKEN_OFF) : ok(name);
  }
  const name = NAMES.find((one) => one === option);
  if (name !== undefined) return ok(name);
  const meant = nearest(String(option), NAMES);
  const choice = meant === undefined ? `There are ${NAMES.join(', ')}.` : `Did you mean ${meant}?`;
  return err(wrongUse(`There is no template "${String(option)}".`, choice));
}

type Wish = { readonly option: unknown; readonly isAsked: boolean; readonly message: string; readonly initial: string };

async function textFrom({ program }: CommandContext, { option, isAsked, message, initial }: Wish) {
  if (typeof option === 'string') return option;
  return isAsked ? (await program.ask()).write({ message, initial }) : initial;
}

function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

const NO_ID = wrongUse('The id is missing.', 'Type workrail workflow new NAMESPACE.NAME');
