import { err, ok, type Result, safeTry } from 'neverthrow';
import * as z from 'zod';
import { namingOf, newFromRun, newWorkflow } from '../../app/author/new-workflow.ts';
import { STARTERS, type StarterName } from '../../app/author/starters.ts';
import { type FinishedRun, finishedRun, type LeftOut, leftOut } from '../../core/author/workflow-from-run.ts';
import { creatableId } from '../../core/workflow/format/read-names.ts';
import { type CommandContext, type CommandInput, command, done } from '../command.ts';
import { good, type Line, notable } from '../output/line.ts';
import { type CommandProblem, unknownWord, usageProblem } from '../problem.ts';
import { loadSession } from '../sessions/load-session.ts';
import { authorProblem, INTERRUPTED, pathFrom, readDestination, TO } from './workflow-words.ts';

const NAMES = Object.keys(STARTERS) as StarterName[];

export const workflowNew = command({
  operands: [
    { syntax: '[id]', help: 'the new id, as namespace.name (if you omit it in a terminal, WorkRail asks for it)' },
  ],
  options: [
    {
      flags: '--template <name>',
      help: 'blank (default), loop, or gate (an assessment must pass before the run continues)',
    },
    { flags: '--from-run <session>', help: 'start from the steps of a finished run instead of a template' },
    { flags: '--name <text>', help: 'the name of the workflow' },
    { flags: '--description <text>', help: 'what it does, in one sentence' },
    TO,
    { flags: '--yes', help: 'do not ask' },
  ],
  example: 'workrail workflow new team.release_check --template loop',
  data: z.strictObject({
    id: z.string(),
    starter: z.string(),
    path: z.string(),
    scenarios: z.string(),
    /** With `--from-run`: what the steps had in the workflow of the run and do not have here. */
    leftOut: z.array(z.strictObject({ stepId: z.string(), parts: z.array(z.string()) })).exactOptional(),
  }),
  run: async (context, input) =>
    safeTry(async function* () {
      const to = yield* readDestination(input.options['to']);
      const wanted = yield* await wantedFrom(context, input);
      const author = await context.program.author();
      const { id, starter, name, description } = wanted;
      const session = input.options['fromRun'];
      const run = typeof session === 'string' ? yield* await runNamed(context, session) : undefined;
      const made =
        run === undefined
          ? await newWorkflow(author, { ...wanted, to })
          : await newFromRun(author, { id, name, description, run, to });
      const { path, scenarios } = yield* made.mapErr(authorProblem);
      const summary =
        run === undefined ? STARTERS[starter].summary : `the steps of a run of ${run.workflow.workflowId}`;
      return done({
        data:
          run === undefined
            ? { id, starter, path, scenarios }
            : { id, starter: 'run', path, scenarios, leftOut: leftOut(run).map(copied) },
        lines: [
          [good('✓ '), `${pathFrom(path, author.workspace)}  ${summary}`],
          [good('✓ '), `${pathFrom(scenarios, author.workspace)}  test scenarios, which pass`],
          ...(run === undefined ? [] : notesOn(run)),
        ],
        next: `workrail workflow check ${id} --watch`,
      });
    }),
});

const copied = ({ stepId, parts }: LeftOut) => ({ stepId, parts: [...parts] });

/** What the author should look at: what is missing, and commands that will run. */
function notesOn(run: FinishedRun): readonly Line[] {
  const missing = leftOut(run).map(({ stepId, parts }) => `${stepId} (${parts.join(', ')})`);
  const commands = run.steps.flatMap(({ checks = [] }) => checks.map((check) => check.run));
  return [
    ...(missing.length === 0 ? [] : [[notable(`Left out: ${missing.join('; ')}.`)]]),
    ...(commands.length === 0
      ? []
      : [[notable(`Read the commands of its checks before you use it: ${[...new Set(commands)].join('; ')}`)]]),
  ];
}

async function runNamed(context: CommandContext, session: string): Promise<Result<FinishedRun, CommandProblem>> {
  const opened = await loadSession(context, session, 'history');
  if (opened.isErr()) return err(opened.error);
  const { looked, runs } = opened.value;
  const run = finishedRun({ ...looked, runs }, undefined);
  return run === undefined ? err(authorProblem({ code: 'run_not_finished' })) : ok(run);
}

type Wanted = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly starter: StarterName;
};

/** Asks for what is missing on the command line, if there is a terminal. */
function wantedFrom(
  context: CommandContext,
  { operands, options }: CommandInput,
): PromiseLike<Result<Wanted, CommandProblem>> {
  return safeTry(async function* () {
    const { program, switches } = context;
    const [typed, ...more] = operands;
    if (more.length > 0) return err(usageProblem('Create one workflow at a time.', 'Run: workrail workflow new ID'));
    const { terminal } = program;
    const isAsked = terminal.isInput() && terminal.isError() && options['yes'] !== true && !switches.isJson;
    const id = typed ?? (isAsked ? await askId(context) : undefined);
    if (id === undefined) return err(isAsked ? INTERRUPTED : NO_ID);
    yield* creatableId(id).mapErr(authorProblem);
    const isFromRun = typeof options['fromRun'] === 'string';
    const starter = yield* await starterFrom(context, options['template'], isAsked && !isFromRun);
    const initial = namingOf(id);
    const text = async (option: unknown, message: string, suggested: string) => {
      if (typeof option === 'string') return option;
      return isAsked ? (await program.ask()).write({ message, initial: suggested }) : suggested;
    };
    const name = await text(options['name'], 'Name', initial.name);
    const description = await text(options['description'], 'What it does, in one sentence', initial.description);
    if (name === undefined || description === undefined) return err(INTERRUPTED);
    // A file with characters that nobody can see would not compile.
    return ok({ ...namingOf(id, { name, description }), starter });
  });
}

async function askId({ program }: CommandContext): Promise<string | undefined> {
  const ask = await program.ask();
  return ask.write({
    message: 'The id of the workflow (namespace.name)',
    check: (text) => {
      const creatable = creatableId(text);
      return creatable.isErr() ? authorProblem(creatable.error).error.suggestion : undefined;
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
    const picked = await (await program.ask()).pick({ message: 'Template', choices });
    const name = NAMES.find((one) => one === picked);
    return name === undefined ? err(INTERRUPTED) : ok(name);
  }
  const name = NAMES.find((one) => one === option);
  return name === undefined ? err(unknownWord('template', option, NAMES)) : ok(name);
}

const NO_ID = usageProblem('The id is missing.', 'Run: workrail workflow new NAMESPACE.NAME');
