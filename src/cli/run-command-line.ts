import { CommanderError, Command as Parser } from 'commander';
import { err, type Result } from 'neverthrow';
import {
  COMMAND_GROUPS,
  type CommandContext,
  type CommandEntry,
  type CommandGroup,
  type CommandInput,
  type CommandOutcome,
  type CommandProblem,
  commandName,
  EXIT,
  readSwitches,
  SWITCHES,
} from './command.ts';
import { COMMANDS } from './command-list.ts';
import { printable } from './output/line.ts';
import { type Printer, printerFor } from './output/printer.ts';
import type { Program } from './program.ts';

type ParserOptions = {
  readonly hasColor: boolean;
  /** Help that was asked for. */
  readonly write: (text: string) => void;
  /** Help that stands in for an answer. */
  readonly writeError: (text: string) => void;
  readonly run: (entry: CommandEntry, input: CommandInput) => Promise<void>;
};

/** Reads words as one of the commands. It rejects with what the library throws: for help too, and for wrong usage. */
function commandParser({ hasColor, write, writeError, run }: ParserOptions): Parser {
  const root = new Parser('workrail')
    .description('Walks an AI agent through a workflow, one step at a time. No telemetry.')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: write,
      writeErr: writeError,
      // Whoever runs the parser says what is wrong, in one place for all kinds of errors.
      outputError: () => undefined,
      getOutHasColors: () => hasColor,
      getErrHasColors: () => hasColor,
    })
    .configureHelp({
      showGlobalOptions: true,
      minWidthToWrap: WRAP_FROM,
      // A list of commands has no room for what may be left out; the help of each has it all.
      subcommandTerm: (command) =>
        [
          command.name(),
          ...command.registeredArguments
            .filter(({ required }) => required)
            .map((argument) => `<${argument.name()}${argument.variadic ? '...' : ''}>`),
        ].join(' '),
      styleTitle: (title) => `\u001b[1m${title}\u001b[22m`,
    })
    .addHelpText('after', exampleText('workrail session verify'));
  for (const [flags, help] of Object.entries(SWITCHES)) root.option(flags, help);

  for (const entry of COMMANDS) {
    const parent = entry.group === undefined ? root : groupOf(root, entry.group);
    const parser = parent.command(entry.verb).description(entry.summary);
    for (const { flags, help } of entry.options ?? []) parser.option(flags, help);
    for (const operand of [entry.operands ?? [], entry.furtherOperands ?? []].flat()) {
      parser.argument(operand.syntax, operand.help);
    }
    parser.addHelpText('after', exampleText(entry.example));
    parser.action(() => run(entry, { operands: parser.args, options: parser.opts() }));
  }
  return root;
}

function groupOf(parent: Parser, name: CommandGroup): Parser {
  const known = parent.commands.find((command) => command.name() === name);
  if (known !== undefined) return known;
  const { summary, example } = COMMAND_GROUPS[name];
  return parent.command(name).description(summary).helpCommand(false).addHelpText('after', exampleText(example));
}

/** Beside the longest flags there is at least this much room for words. */
const WRAP_FROM = 24;

function exampleText(example: string): string {
  return `\nExample:\n  ${example}`;
}

/** Runs any command line and returns the exit code; `undefined` while a server goes on. */
export async function runCommandLine(program: Program): Promise<number | undefined> {
  const { switches, words } = readSwitches(program.argv);
  const report = printerFor(program, switches);
  const context: CommandContext = { program, switches, progress: report.progress, say: report.say };

  let exitCode: number | undefined = EXIT.ok;
  const parser = commandParser({
    hasColor: report.hasColor,
    write: program.write,
    writeError: switches.isJson ? () => undefined : program.writeError,
    run: async (entry, input) => {
      const [wrong, command] = await Promise.all([
        entry.needsNoConfig === true ? [] : program.configProblems(),
        entry.load(),
      ]);
      const result = wrong.length > 0 ? err(configProblem(wrong)) : await command(context, input);
      exitCode = concluded(report, commandName(entry), result);
    },
  });
  const bare = async () => {
    const wrong = await program.configProblems();
    const { welcome } = await import('./welcome.ts');
    const result = wrong.length > 0 ? err(configProblem(wrong)) : await welcome(context, { operands: [], options: {} });
    exitCode = concluded(report, parser.name(), result);
  };

  const running = words.length === 0 ? bare() : parser.parseAsync(plainWords(words), { from: 'user' });
  await running.then(
    () => undefined,
    (thrown: unknown) => {
      report.progress.stop();
      exitCode = failed(report, thrown, switches.isVerbose ? program.writeError : undefined);
    },
  );
  return exitCode;
}

/** `help` and `--version` stand for what can be said in another way. */
function plainWords(words: readonly string[]): string[] {
  const [first, ...rest] = words;
  if (first === 'help') return wordsForHelp(rest);
  return first === '--version' ? ['version', ...rest] : [...words];
}

/** The library shows the help of what stands before a word it does not know; without `--help` it says what is wrong. */
function wordsForHelp(words: readonly string[]): string[] {
  const names = words.filter((word) => !word.startsWith('-'));
  const [group, verb] = names;
  const isGroup = group !== undefined && Object.hasOwn(COMMAND_GROUPS, group);
  const asked = isGroup ? [group, ...(verb === undefined ? [] : [verb])] : names.slice(0, 1);
  const known = ['', ...Object.keys(COMMAND_GROUPS), ...COMMANDS.map(commandName)];
  return known.includes(asked.join(' ')) ? [...words, '--help'] : asked;
}

function concluded(
  report: Printer,
  command: string,
  result: Result<CommandOutcome, CommandProblem>,
): number | undefined {
  report.progress.stop();
  if (result.isErr()) {
    report.failed(result.error, command);
    return result.error.exitCode;
  }
  if (result.value.kind === 'serving') return undefined;
  report.done(command, result.value);
  return result.value.problem?.exitCode ?? EXIT.ok;
}

function failed(report: Printer, thrown: unknown, writeTrace: ((text: string) => void) | undefined): number {
  if (thrown instanceof CommanderError) {
    if (thrown.exitCode === 0) return EXIT.ok;
    report.failed(usageProblem(thrown));
    return EXIT.usage;
  }
  const trace = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  for (const line of trace.split('\n')) writeTrace?.(`${printable(line)}\n`);
  report.failed(OUR_FAULT);
  return EXIT.failed;
}

/** The library writes `error: what is wrong`, and on a second line what may have been meant. */
function usageProblem({ code, message }: CommanderError): CommandProblem {
  const [first = '', second] = message.split('\n');
  const isHelp = code === 'commander.help';
  const said = isHelp ? 'A command is missing.' : `${capitalised(first.replace(/^error: /, ''))}.`;
  const meant = /^\(Did you mean (.+)\?\)$/.exec(second ?? '')?.[1];
  return {
    exitCode: EXIT.usage,
    error: {
      code: 'VALIDATION_ERROR',
      message: said,
      suggestion: `${meant === undefined ? '' : `Did you mean ${meant}? `}Type "workrail --help" to see the commands.`,
      retry: { kind: 'not_retryable' },
    },
  };
}

function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`.replace(/\.$/, '');
}

/** Whoever set something expects an effect, so nothing runs as if it were not there. */
function configProblem(wrong: readonly string[]): CommandProblem {
  return {
    exitCode: EXIT.usage,
    error: {
      code: 'VALIDATION_ERROR',
      message: `The settings are wrong. ${wrong.join(' ')}`,
      suggestion: 'Put that right, then type the command again; "workrail config list" shows every setting.',
      retry: { kind: 'not_retryable' },
    },
  };
}

const OUR_FAULT: CommandProblem = {
  exitCode: EXIT.failed,
  error: {
    code: 'INTERNAL',
    message: 'WorkRail failed through a fault of its own. What was recorded before is safe.',
    suggestion: 'Type the command again with --verbose, and report what it shows.',
    retry: { kind: 'not_retryable' },
  },
};
