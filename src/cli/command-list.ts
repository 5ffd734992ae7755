import { WORKFLOW_COMMANDS } from './author/workflow-commands.ts';
import type { CommandEntry } from './command-entry.ts';
import { ABOUT_COMMANDS } from './commands/about/about-commands.ts';
import { COMPLETION_COMMANDS } from './commands/completion/completion-commands.ts';
import { CONFIG_COMMANDS } from './commands/config/config-commands.ts';
import { DEMO_COMMANDS } from './commands/demo/demo-commands.ts';
import { EXCHANGE_COMMANDS } from './commands/exchange/exchange-commands.ts';
import { KEYS_COMMANDS } from './commands/keys/keys-commands.ts';
import { SEARCH_COMMANDS } from './commands/search/search-commands.ts';
import { SERVER_COMMANDS } from './commands/server/server-commands.ts';
import { SETUP_COMMANDS } from './commands/setup/setup-commands.ts';
import { SOURCE_COMMANDS } from './commands/source/source-commands.ts';
import { STATUS_COMMANDS } from './commands/status/status-commands.ts';
import { SESSION_COMMANDS } from './sessions/session-commands.ts';
import { UPKEEP_COMMANDS } from './upkeep/upkeep-commands.ts';

/** Every command, in the order help shows them. */
export const COMMANDS: readonly CommandEntry[] = [
  ...SETUP_COMMANDS,
  ...DEMO_COMMANDS,
  ...SERVER_COMMANDS,
  ...STATUS_COMMANDS,
  ...SESSION_COMMANDS,
  ...UPKEEP_COMMANDS,
  ...SEARCH_COMMANDS,
  ...WORKFLOW_COMMANDS,
  ...SOURCE_COMMANDS,
  ...EXCHANGE_COMMANDS,
  ...CONFIG_COMMANDS,
  ...KEYS_COMMANDS,
  ...COMPLETION_COMMANDS,
  ...ABOUT_COMMANDS,
];
