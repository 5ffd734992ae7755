import { Command as Parser } from 'commander';
import type { CommandInput } from './command.ts';
import { COMMAND_GROUPS, type CommandEntry, type CommandGroup } from './command-entry.ts';
import { COMMANDS } from './command-list.ts';
import { SWITCHES } from './switches.ts';

type ParserOptions = {
  readonly hasColor: boolean;
  /** Help that was asked for. */
  readonly write: (text: string) => void;
  /** Help that stands in for an answer. */
  readonly writeError: (text: string) => void;
  readonly run: (entry: CommandEntry, input: CommandInput) => Promise<void>;
};

/** Reads words as one of the commands. It rejects with what the library throws: for help too, and for wrong usage. */
export function commandParser({ hasColor, write, writeError, run }: ParserOptions): Parser {
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
