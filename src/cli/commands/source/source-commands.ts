import type { CommandEntry } from '../../command-entry.ts';

export const SOURCE_COMMANDS: readonly CommandEntry[] = [
  {
    group: 'source',
    verb: 'list',
    summary: 'the places that workflows come from beside the bundle, with pinned commit and health',
    example: 'workrail source list',
    load: async () => (await import('../../sources.ts')).sourceList,
  },
  {
    group: 'source',
    verb: 'add',
    summary: 'take workflows from a git repository (pinned to its commit), a folder, or an installed npm package',
    operands: { syntax: '<address>', help: 'https://…, git@host:path, /path/repo.git, a folder, or npm:NAME' },
    options: [
      { flags: '--name <name>', help: 'what to call it (the last word of the address)' },
      { flags: '--ref <ref>', help: 'the branch or tag of a repository' },
      { flags: '--folder <folder>', help: 'the folder in a repository that holds the workflows (workflows)' },
    ],
    example: 'workrail source add https://example.org/team/flows.git --ref main',
    load: async () => (await import('./add-source.ts')).sourceAdd,
  },
  {
    group: 'source',
    verb: 'remove',
    summary: 'forget a source; runs that were started from it go on',
    operands: { syntax: '<name>', help: 'as "workrail source list" shows it' },
    example: 'workrail source remove flows',
    load: async () => (await import('./remove-source.ts')).sourceRemove,
  },
  {
    group: 'source',
    verb: 'update',
    summary: 'move repositories to what their branch shows now, and tell from which commit to which',
    operands: { syntax: '[name...]', help: 'all repositories when none is named' },
    options: [{ flags: '--force', help: 'also when the branch was rewritten and no longer holds the pinned commit' }],
    example: 'workrail source update flows',
    load: async () => (await import('./update-sources.ts')).sourceUpdate,
  },
];
