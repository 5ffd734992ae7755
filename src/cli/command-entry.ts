import type { RunCommand } from './command.ts';

/** Words that only stand before others. */
export const COMMAND_GROUPS = {
  session: { summary: 'look after recorded sessions', example: 'workrail session verify' },
} as const;
export type CommandGroup = keyof typeof COMMAND_GROUPS;

/** A command as help shows it; its code is loaded when it is run. */
export type CommandEntry = {
  readonly group?: CommandGroup;
  readonly verb: string;
  readonly summary: string;
  readonly operands?: { readonly syntax: string; readonly help: string };
  readonly options?: readonly { readonly flags: string; readonly help: string }[];
  readonly example: string;
  readonly load: () => Promise<RunCommand>;
};

/** The words that call a command. */
export function commandName({ group, verb }: Pick<CommandEntry, 'group' | 'verb'>): string {
  return group === undefined ? verb : `${group} ${verb}`;
}
