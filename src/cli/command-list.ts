import { WORKFLOW_COMMANDS } from './author/workflow-commands.ts';
import type { CommandEntry } from './command.ts';
import { SESSION_COMMANDS } from './sessions/session-commands.ts';
import { UPKEEP_COMMANDS } from './upkeep/upkeep-commands.ts';

const SETUP_COMMANDS: readonly CommandEntry[] = [
  {
    verb: 'init',
    summary: 'register with the agent clients found on this machine; everything can be undone',
    options: [
      {
        flags: '--client <names>',
        help: 'only these, with commas: claude-code, claude-desktop, codex, gemini, cursor, vscode, windsurf, zed, opencode',
      },
      { flags: '--all', help: 'all that are found, without asking' },
      { flags: '--project', help: 'in the files of this folder instead of those of your user' },
      { flags: '--yes', help: 'ask nothing' },
      { flags: '--dry-run', help: 'show what would change, and change nothing' },
      { flags: '--undo', help: 'put every file back as it was' },
      { flags: '--force', help: 'also replace an entry "workrail" that starts something else' },
    ],
    example: 'workrail init --dry-run',
    needsNoConfig: true,
    load: async () => (await import('./clients/init.ts')).init,
  },
  {
    verb: 'doctor',
    summary: 'check this machine, every session and every registered client, which is really started',
    options: [{ flags: '--fix', help: 'mend what can be mended' }],
    example: 'workrail doctor --fix',
    needsNoConfig: true,
    load: async () => (await import('./clients/doctor.ts')).doctor,
  },
];

const DEMO_COMMANDS: readonly CommandEntry[] = [
  {
    verb: 'demo',
    summary: 'watch a scripted agent play a workflow: blocked and mended, rewound and branched, lost and found',
    options: [
      { flags: '--speed <speed>', help: '1, 4 or max (1 in a terminal, else max)' },
      { flags: '--keep', help: 'keep what was recorded, and say where' },
    ],
    example: 'workrail demo --speed 4',
    load: async () => (await import('./demo.ts')).demo,
  },
];

const SERVER_COMMANDS: readonly CommandEntry[] = [
  {
    verb: 'serve',
    summary: 'serve MCP on standard input and output, which is what an agent client starts, or over HTTP',
    options: [
      { flags: '--stdio', help: 'use standard input and output (the default)' },
      { flags: '--http [port]', help: 'use HTTP on 127.0.0.1 instead, for this machine only' },
      { flags: '--port <port>', help: 'the port for --http; 0 takes any that is free' },
      { flags: '--log', help: 'write a line of JSON to standard error for every call (WORKRAIL_LOG=1 does the same)' },
    ],
    example: 'claude mcp add workrail -- workrail serve',
    // It reads them itself, for a client that never sees what a command says.
    needsNoConfig: true,
    load: async () => (await import('./serve.ts')).serveCommand,
  },
];

const STATUS_COMMANDS: readonly CommandEntry[] = [
  {
    verb: 'status',
    summary: 'what is running, blocked or waiting for you, here and elsewhere',
    example: 'workrail status',
    load: async () => (await import('./status.ts')).status,
  },
];

const SEARCH_COMMANDS: readonly CommandEntry[] = [
  {
    verb: 'search',
    summary: 'find sessions by words of their goals, notes and artifacts',
    operands: { syntax: '<words...>', help: 'words that a session must hold, all of them' },
    options: [{ flags: '--all', help: 'read every session, and show every one that is found' }],
    example: 'workrail search empty cart',
    load: async () => (await import('./search.ts')).search,
  },
];

const SOURCE_COMMANDS: readonly CommandEntry[] = [
  {
    group: 'source',
    verb: 'list',
    summary: 'the places that workflows come from beside the bundle, with pinned commit and health',
    example: 'workrail source list',
    load: async () => (await import('./sources.ts')).sourceList,
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
    load: async () => (await import('./sources.ts')).sourceAdd,
  },
  {
    group: 'source',
    verb: 'remove',
    summary: 'forget a source; runs that were started from it go on',
    operands: { syntax: '<name>', help: 'as "workrail source list" shows it' },
    example: 'workrail source remove flows',
    load: async () => (await import('./sources.ts')).sourceRemove,
  },
  {
    group: 'source',
    verb: 'update',
    summary: 'move repositories to what their branch shows now, and tell from which commit to which',
    operands: { syntax: '[name...]', help: 'all repositories when none is named' },
    options: [{ flags: '--force', help: 'also when the branch was rewritten and no longer holds the pinned commit' }],
    example: 'workrail source update flows',
    load: async () => (await import('./sources.ts')).sourceUpdate,
  },
];

const EXCHANGE_COMMANDS: readonly CommandEntry[] = [
  {
    verb: 'export',
    summary: 'write a session to a file: to go on with elsewhere, or to read',
    operands: { syntax: '<id...>', help: 'session ids; each whole, the beginning, the end, or the tag of a run' },
    options: [
      {
        flags: '--as <format>',
        help: 'bundle: one session to import elsewhere (the default); md, html or json: a report of one or more to read',
      },
      { flags: '-o, --output <file>', help: 'the file; without it everything goes to standard output' },
      { flags: '--no-redact', help: 'hide nothing in a report: neither paths and addresses nor keys and passwords' },
    ],
    example: 'workrail export 7f3a --as html -o report.html',
    load: async () => (await import('./bundle/export.ts')).exportCommand,
  },
  {
    verb: 'import',
    summary: 'take in a session from a bundle; everything is checked before anything is written',
    operands: { syntax: '<file>', help: 'a bundle that workrail export made' },
    options: [{ flags: '--dry-run', help: 'check it and say what would be done' }],
    example: 'workrail import session.json --dry-run',
    load: async () => (await import('./bundle/import.ts')).importCommand,
  },
];

const KEY = { syntax: '<key>', help: 'the name of a setting; "workrail config list" shows them' };

const CONFIG_COMMANDS: readonly CommandEntry[] = [
  {
    group: 'config',
    verb: 'get',
    summary: 'print one setting; where it comes from is said aside',
    operands: KEY,
    example: 'workrail config get mode',
    needsNoConfig: true,
    load: async () => (await import('./settings.ts')).configGet,
  },
  {
    group: 'config',
    verb: 'set',
    summary: 'change one setting in your file, or in that of this project',
    operands: KEY,
    furtherOperands: [{ syntax: '[value]', help: 'what it shall be' }],
    options: [
      { flags: '--project', help: 'for this folder, in .workrail/config.json' },
      { flags: '--unset', help: 'take the setting out' },
    ],
    example: 'workrail config set mode full_auto_stop_on_user_deps',
    needsNoConfig: true,
    load: async () => (await import('./settings.ts')).configSet,
  },
  {
    group: 'config',
    verb: 'list',
    summary: 'print every setting with where it comes from; --verbose tells what each is for',
    example: 'workrail config list',
    needsNoConfig: true,
    load: async () => (await import('./settings.ts')).configList,
  },
  {
    group: 'config',
    verb: 'path',
    summary: 'print the files that settings are read from',
    example: 'workrail config path',
    needsNoConfig: true,
    load: async () => (await import('./settings.ts')).configPath,
  },
];

const KEYS_COMMANDS: readonly CommandEntry[] = [
  {
    group: 'keys',
    verb: 'rotate',
    summary: 'sign tokens with a fresh key from now on; tokens of the key before still work',
    options: [{ flags: '--yes', help: 'ask nothing, also when tokens of an older key end with it' }],
    example: 'workrail keys rotate',
    load: async () => (await import('./keys.ts')).keysRotate,
  },
  {
    group: 'keys',
    verb: 'status',
    summary: 'show which keys there are, by their fingerprints',
    example: 'workrail keys status',
    load: async () => (await import('./keys.ts')).keysStatus,
  },
];

const COMPLETION_COMMANDS: readonly CommandEntry[] = [
  {
    verb: 'completion',
    summary: 'print what a shell needs to complete commands, session ids with their titles, and workflow ids',
    operands: { syntax: '<shell>', help: 'bash, zsh or fish' },
    furtherOperands: [{ syntax: '[words...]', help: 'behind --: the words of a line, the last of them unfinished' }],
    options: [
      { flags: '--complete', help: 'print what may stand in the place of the last word; the script asks this' },
    ],
    example: 'source <(workrail completion bash)',
    needsNoConfig: true,
    load: async () => (await import('./completion.ts')).completion,
  },
];

const ABOUT_COMMANDS: readonly CommandEntry[] = [
  {
    verb: 'version',
    summary: 'print the version',
    example: 'workrail version --json',
    needsNoConfig: true,
    load: async () => (await import('./version.ts')).version,
  },
];

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
