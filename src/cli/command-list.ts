import type { CommandEntry } from './command-entry.ts';
import { ABOUT_COMMANDS } from './commands/about/about-commands.ts';
import { EXCHANGE_COMMANDS } from './commands/exchange/exchange-commands.ts';
import { SERVER_COMMANDS } from './commands/server/server-commands.ts';
import { SESSION_COMMANDS } from './commands/session/session-commands.ts';

/** Every command, in the order help shows them. */
export const COMMANDS: readonly CommandEntry[] = [
  ...SERVER_COMMANDS,
  ...SESSION_COMMANDS,
  ...EXCHANGE_COMMANDS,
  ...ABOUT_COMMANDS,
];
