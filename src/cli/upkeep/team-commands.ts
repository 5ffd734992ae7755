import type { CommandEntry } from '../command.ts';

/** The commands about a team's database, in the order help shows them. */
export const TEAM_COMMANDS: readonly CommandEntry[] = [
  {
    usage: 'migrate',
    summary: 'create or update the tables of a team database in PostgreSQL',
    load: async () => (await import('./team.ts')).migrateCommand,
  },
  {
    usage: 'space create <name>',
    summary: 'create a space in a team database: an area with its own sessions and keys',
    load: async () => (await import('./team.ts')).spaceCreate,
  },
  {
    usage: 'space list',
    summary: 'list the spaces of a team database',
    load: async () => (await import('./team.ts')).spaceList,
  },
  {
    usage: 'space verify <name>',
    summary: 'check every stored byte of the sessions of a space',
    load: async () => (await import('./space-upkeep.ts')).spaceVerify,
  },
  {
    usage: 'space gc <name>',
    summary: 'delete old sessions of a space, and data that no session uses',
    load: async () => (await import('./space-upkeep.ts')).spaceGc,
  },
  {
    usage: 'space rotate-keys <name>',
    summary: 'sign new run tokens of a space with a new key; tokens signed with the previous key stay valid',
    load: async () => (await import('./space-upkeep.ts')).spaceRotateKeys,
  },
  {
    usage: 'space reseal',
    summary: 'encrypt the keys of all spaces with a new master key; servers can keep running',
    load: async () => (await import('./space-upkeep.ts')).spaceReseal,
  },
  {
    usage: 'member list',
    summary: 'list who may use a space, with their roles',
    load: async () => (await import('./team-access.ts')).memberList,
  },
  {
    usage: 'member set <principal> <role>',
    summary: 'give a person, or a group of your identity provider, a role in a space',
    load: async () => (await import('./team-access.ts')).memberSet,
  },
  {
    usage: 'space set <name> [handover]',
    summary: 'show or change the rules and limits of a space',
    load: async () => (await import('./space-set.ts')).spaceSet,
  },
  {
    usage: 'space source <name> [address]',
    summary: 'show or change the list of git repositories from which the agents of a space get workflows',
    load: async () => (await import('./space-source.ts')).spaceSource,
  },
  {
    usage: 'space trust <name> <issuer>',
    summary: 'accept results of CI jobs as evidence for the runs of a space',
    load: async () => (await import('./space-set.ts')).spaceTrust,
  },
  {
    usage: 'member remove <principal>',
    summary: 'take away the role that somebody has in a space',
    load: async () => (await import('./team-access.ts')).memberRemove,
  },
  {
    usage: 'token create',
    summary: 'create a token that lets a program use a space',
    load: async () => (await import('./team-access.ts')).tokenCreate,
  },
  {
    usage: 'token list',
    summary: 'list the tokens of a space',
    load: async () => (await import('./team-access.ts')).tokenList,
  },
  {
    usage: 'token revoke <id>',
    summary: 'make a token invalid at once',
    load: async () => (await import('./team-access.ts')).tokenRevoke,
  },
  {
    usage: 'audit verify',
    summary: 'check and show the log of who was given access to a space',
    load: async () => (await import('./audit.ts')).auditVerify,
  },
  {
    usage: 'audit export',
    summary:
      'write, as JSON lines, the log of who was given access; each line has its hash, so that others can check it',
    load: async () => (await import('./audit.ts')).auditExport,
  },
  {
    usage: 'store copy',
    summary: 'copy sessions between a data folder and a team database; ids and histories stay the same',
    load: async () => (await import('./team.ts')).storeCopy,
  },
];
