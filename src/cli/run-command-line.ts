import { CommanderError } from 'commander';
import { err, type Result } from 'neverthrow';
import type { CommandContext, CommandOutcome, CommandProblem } from './command.ts';
import { COMMAND_GROUPS, commandName } from './command-entry.ts';
import { COMMANDS } from './command-list.ts';
import { commandParser } from './command-parser.ts';
import { EXIT } from './exit-codes.ts';
import { printable } from './output/printable.ts';
import { type Printer, printerFor } from './output/printer.ts';
import type { Program } from './program.ts';
import { readSwitches } from './switches.ts';

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
