import type { RunCommand } from './command.ts';

/** Words that only stand before others. */
export const COMMAND_GROUPS = {
  session: { summary: 'look after recorded sessions', example: 'workrail session verify' },
  workflow: { summary: 'write, check, preview and test workflows', example: 'workrail workflow check' },
  config: { summary: 'the settings, each with where it comes from', example: 'workrail config list' },
  source: { summary: 'where workflows come from', example: 'workrail source list' },
  keys: { summary: 'the keys that tokens are signed with', example: 'workrail keys status' },
} as const;
export type CommandGroup = keyof typeof COMMAND_GROUPS;

/** A command as help shows it; its code is loaded when it is run. */
export type CommandEntry = {
  readonly group?: CommandGroup;
  readonly verb: string;
  readonly summary: string;
  readonly operands?: Operand;
  /** Those that stand behind the first. */
  readonly furtherOperands?: readonly Operand[];
  readonly options?: readonly { readonly flags: string; readonly help: string }[];
  readonly example: string;
  /** Whether it also runs when the settings are wrong, because it shows or mends them, or needs none. */
  readonly needsNoConfig?: true;
  readonly load: () => Promise<RunCommand>;
};

type Operand = { readonly syntax: string; readonly help: string };

/** The words that call a command. */
export function commandName({ group, verb }: Pick<CommandEntry, 'group' | 'verb'>): string {
  return group === undefined ? verb : `${group} ${verb}`;
}
