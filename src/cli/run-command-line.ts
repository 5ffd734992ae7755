import { CommanderError, Command as Parser } from 'commander';
import { err, ok, type Result } from 'neverthrow';
import { parseJson } from '../core/json/json-value.ts';
import type { ErrorEnvelope } from '../core/log/error-envelope.ts';
import {
  COMMAND_GROUPS,
  type Command,
  type CommandContext,
  type CommandEntry,
  type CommandInput,
  type CommandOutcome,
  commandName,
  isCommandGroup,
  readSwitches,
  SWITCHES,
} from './command.ts';
import { COMMANDS } from './command-list.ts';
import { printable } from './output/line.ts';
import { type Printer, printerFor } from './output/printer.ts';
import { type CommandProblem, EXIT, errorProblem, usageProblem } from './problem.ts';
import type { Program } from './program.ts';

/** Runs any command line and returns the exit code; `undefined` while a server is running. */
export async function runCommandLine(program: Program): Promise<number | undefined> {
  const { switches, words } = readSwitches(program.argv);
  const printer = printerFor(program, switches);
  const context: CommandContext = { program, switches, progress: printer.progress, say: printer.say };

  let exitCode: number | undefined = EXIT.ok;
  const run = async (name: string, { needsNoConfig, run: runCommand }: Command, input: CommandInput) => {
    const invalid = needsNoConfig === true ? [] : await program.configProblems();
    exitCode = concluded(
      printer,
      name,
      invalid.length > 0 ? err(invalidSettings(invalid)) : await runCommand(context, input),
    );
  };
  const plain = plainWords(words);
  const entry = entryFor(plain);
  const parsed = async () => {
    if (words.length === 0) {
      const { welcome } = await import('./welcome.ts');
      return run('workrail', welcome, { operands: [], options: {} });
    }
    const command = await entry?.load();
    const parser = commandParser({
      hasColor: printer.hasColor,
      write: program.write,
      writeError: switches.isJson ? () => undefined : program.writeError,
      ...(entry !== undefined && command !== undefined && { chosen: { entry, command }, run }),
    });
    await parser.parseAsync(plain, { from: 'user' });
    return undefined;
  };
  await parsed().catch((thrown: unknown) => {
    printer.progress.stop();
    exitCode = failed(thrown, {
      printer,
      help: helpFor(plain, entry),
      writeTrace: switches.isVerbose ? program.writeError : undefined,
    });
  });
  return exitCode;
}

const NOBODY = { isInput: () => false, isOutput: () => false, isError: () => false, columns: () => undefined };

/**
 * Runs a command line for a page of the console, and returns the data that it prints with `--json`. Nobody is at a
 * terminal, so what needs a person there is refused with the command to type. What a check found wrong is in its data.
 */
export async function runForPage(program: Program, words: readonly string[]): Promise<Result<object, ErrorEnvelope>> {
  let printed = '';
  const write = (text: string) => {
    printed += text;
  };
  const quiet = { ...program, terminal: NOBODY, write, writeError: () => undefined };
  await runCommandLine({ ...quiet, argv: ['--json', ...words] });
  const { data, error } = parseJson(printed).unwrapOr({}) as { readonly data?: object; readonly error?: ErrorEnvelope };
  return data === undefined ? err(error ?? INTERNAL_ERROR.error) : ok(data);
}

/** `help` and `--version` are other spellings of `--help` and `version`. */
function plainWords(words: readonly string[]): string[] {
  const [first, ...rest] = words;
  if (first === 'help') return wordsForHelp(rest);
  return first === '--version' ? ['version', ...rest] : [...words];
}

/** For an unknown word after `--help` the library shows the help of its parent; without `--help` it reports the word. */
function wordsForHelp(words: readonly string[]): string[] {
  const [first, second] = words.filter((word) => !word.startsWith('-'));
  const name = [first, isCommandGroup(first) ? second : undefined].filter((word) => word !== undefined);
  const known = ['', ...Object.keys(COMMAND_GROUPS), ...COMMANDS.map(commandName)];
  return known.includes(name.join(' ')) ? [...words, '--help'] : name;
}

function entryFor(words: readonly string[]): CommandEntry | undefined {
  const [first, second] = words.filter((word) => !word.startsWith('-'));
  const name = isCommandGroup(first) ? `${first} ${second}` : first;
  return COMMANDS.find((entry) => commandName(entry) === name);
}

type ParserOptions = {
  readonly hasColor: boolean;
  /** For help that the user asked for. */
  readonly write: (text: string) => void;
  /** For help that is shown instead of running an incomplete command. */
  readonly writeError: (text: string) => void;
  readonly chosen?: { readonly entry: CommandEntry; readonly command: Command };
  readonly run?: (name: string, command: Command, input: CommandInput) => Promise<void>;
};

/**
 * Knows all commands by name and the chosen one in full. It rejects with what the library throws, which is also how the
 * library reports that it has shown help.
 */
function commandParser({ hasColor, write, writeError, chosen, run }: ParserOptions): Parser {
  const root = new Parser('workrail')
    .description('Walks an AI agent through a workflow, one step at a time. No telemetry.')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: write,
      writeErr: writeError,
      // The caller reports errors, in one place for errors of all kinds.
      outputError: () => undefined,
      getOutHasColors: () => hasColor,
      getErrHasColors: () => hasColor,
    })
    .configureHelp({
      showGlobalOptions: true,
      minWidthToWrap: WRAP_FROM,
      // A list of commands shows only required operands; the help of a command shows them all.
      subcommandTerm: (command) => usages.get(command) ?? command.name(),
      styleTitle: (title) => `\u001b[1m${title}\u001b[22m`,
    })
    .addHelpText('after', exampleText('workrail init --dry-run'));
  for (const [flags, help] of Object.entries(SWITCHES)) root.option(flags, help);

  const usages = new Map<Parser, string>();
  for (const entry of COMMANDS) {
    const [first = '', second] = commandName(entry).split(' ');
    const parent = second === undefined ? root : groupParser(root, first);
    const parser = parent.command(second ?? first).description(entry.summary);
    usages.set(parser, second === undefined ? entry.usage : entry.usage.slice(first.length + 1));
    if (chosen === undefined || chosen.entry !== entry) continue;
    const { operands = [], options = [], example } = chosen.command;
    for (const { flags, help } of options) {
      parser.option(flags, help);
      if (chosen.command.takesOptionsOnce === true) refuseRepeats(parser, flags);
    }
    for (const { syntax, help } of operands) parser.argument(syntax, help);
    parser.addHelpText('after', exampleText(example));
    parser.action(() => run?.(commandName(entry), chosen.command, { operands: parser.args, options: parser.opts() }));
  }
  return root;
}

/** The library takes the last of two values. */
function refuseRepeats(parser: Parser, flags: string): void {
  const name = parser.options.at(-1)?.name() ?? '';
  let isGiven = false;
  parser.on(`option:${name}`, () => {
    if (isGiven) parser.error(`option '${flags}' is given more than once; give it once`);
    isGiven = true;
  });
}

function groupParser(root: Parser, name: string): Parser {
  const known = root.commands.find((command) => command.name() === name);
  if (known !== undefined || !isCommandGroup(name)) return known ?? root;
  const { summary, example } = COMMAND_GROUPS[name];
  return root.command(name).description(summary).helpCommand(false).addHelpText('after', exampleText(example));
}

/** Next to the longest flags there is at least this much room for text. */
const WRAP_FROM = 24;

function exampleText(example: string): string {
  return `\nExample:\n  ${example}`;
}

function concluded(
  printer: Printer,
  command: string,
  result: Result<CommandOutcome, CommandProblem>,
): number | undefined {
  printer.progress.stop();
  if (result.isErr()) {
    printer.failed(result.error, command);
    return result.error.exitCode;
  }
  if (result.value.kind === 'serving') {
    printer.serving(command, result.value);
    return undefined;
  }
  printer.done(command, result.value);
  return result.value.problem?.exitCode ?? EXIT.ok;
}

type Failing = {
  readonly printer: Printer;
  /** Where the right command line is described. */
  readonly help: string;
  readonly writeTrace: ((text: string) => void) | undefined;
};

function failed(thrown: unknown, { printer, help, writeTrace }: Failing): number {
  if (thrown instanceof CommanderError) {
    if (thrown.exitCode === 0) return EXIT.ok;
    printer.failed(parserProblem(thrown, help));
    return EXIT.usage;
  }
  const trace = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  for (const line of trace.split('\n')) writeTrace?.(`${printable(line)}\n`);
  printer.failed(INTERNAL_ERROR);
  return EXIT.failed;
}

/** The help page of what was typed: of the command, of its group, or of all commands. */
function helpFor([first]: readonly string[], entry: CommandEntry | undefined): string {
  if (entry !== undefined) return `Run "workrail ${commandName(entry)} --help" to see what it takes.`;
  return `Run "workrail ${isCommandGroup(first) ? `${first} ` : ''}--help" to see the commands.`;
}

/** The library writes `error: what is wrong`, and on a second line what may have been meant. */
function parserProblem({ code, message }: CommanderError, help: string): CommandProblem {
  const [first = '', second] = message.split('\n');
  const said = code === 'commander.help' ? 'A command is missing.' : sentence(first.replace(/^error: /, ''));
  const [, unknown = ''] = /^error: unknown command '(.*)'/.exec(first) ?? [];
  const instead = INSTEAD.get(unknown);
  if (instead !== undefined) return usageProblem(said, `Run "workrail ${instead}".`);
  const meant = /^\(Did you mean (.+)\?\)$/.exec(second ?? '')?.[1];
  return usageProblem(said, `${meant === undefined ? '' : `Did you mean ${meant}? `}${help}`);
}

/** Commands that users try but that are options of another command; spelling suggestions cannot find them. */
const INSTEAD: ReadonlyMap<string, string> = new Map([['unset', 'config set KEY --unset']]);

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;
}

/** A user who set something expects an effect, so no command runs as if the setting were not there. */
function invalidSettings(problems: readonly string[]): CommandProblem {
  return usageProblem(
    `A setting is invalid. ${problems.join(' ')}`,
    'Fix it, then run the command again. "workrail config list" shows every setting.',
  );
}

const INTERNAL_ERROR = errorProblem({
  code: 'INTERNAL',
  message: 'Internal error in WorkRail. What was recorded before is safe.',
  suggestion: 'Run the command again with --verbose, and report the output.',
});
