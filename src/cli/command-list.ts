import type { CommandEntry } from './command.ts';
import { TEAM_COMMANDS } from './upkeep/team-commands.ts';

/** Every command, in the order help shows them. A command's file is loaded when it is run or its help is shown. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    usage: 'init',
    summary: 'register WorkRail with the agent clients on this machine',
    load: async () => (await import('./clients/init.ts')).init,
  },
  {
    usage: 'doctor',
    summary: 'check this machine, every session and every registered client',
    load: async () => (await import('./clients/doctor.ts')).doctor,
  },
  {
    usage: 'demo',
    summary: 'watch a scripted agent run a workflow on the real engine',
    load: async () => (await import('./demo.ts')).demo,
  },
  {
    usage: 'serve',
    summary: 'serve MCP to an agent client, on stdio or over HTTP',
    load: async () => (await import('./serve.ts')).serveCommand,
  },
  {
    usage: 'connect <url>',
    summary: 'connect an agent client, on stdio, to a team server',
    load: async () => (await import('./upkeep/connect.ts')).connect,
  },
  {
    usage: 'console',
    summary: 'open the console in the browser: every session, and what is waiting for you',
    load: async () => (await import('./console.ts')).consoleCommand,
  },
  {
    usage: 'status',
    summary: 'show what is running, blocked or waiting for you',
    load: async () => (await import('./sessions/status.ts')).status,
  },
  {
    usage: 'waiting',
    summary: 'list what is waiting for your decision',
    load: async () => (await import('./sessions/waiting.ts')).waiting,
  },
  {
    usage: 'answer <tag>',
    summary: 'approve, reject or answer a request from an agent (only in a terminal)',
    load: async () => (await import('./sessions/answer.ts')).answer,
  },
  {
    usage: 'attest <tag> [check]',
    summary: 'run a check of the current step and record the result',
    load: async () => (await import('./sessions/attest.ts')).attest,
  },
  {
    usage: 'session list',
    summary: 'list sessions, newest first',
    load: async () => (await import('./sessions/session-list.ts')).sessionList,
  },
  {
    usage: 'session show',
    summary: 'show the progress of a session and what blocks it',
    load: async () => (await import('./sessions/session-show.ts')).sessionShow,
  },
  {
    usage: 'session tree',
    summary: 'draw the steps of a session with its branches, blocked attempts and checkpoints',
    load: async () => (await import('./sessions/session-tree.ts')).sessionTree,
  },
  {
    usage: 'session notes',
    summary: 'print notes and artifacts, step by step',
    load: async () => (await import('./sessions/session-notes.ts')).sessionNotes,
  },
  {
    usage: 'session diff <id> <a> <b>',
    summary: 'compare two branches or steps of a session',
    load: async () => (await import('./sessions/session-diff.ts')).sessionDiff,
  },
  {
    usage: 'session resume',
    summary: 'print a prompt that continues a session in a new chat',
    load: async () => (await import('./sessions/session-resume.ts')).sessionResume,
  },
  {
    usage: 'session verify',
    summary: 'check every stored byte of sessions, without changing anything',
    load: async () => (await import('./sessions/session-verify.ts')).sessionVerify,
  },
  {
    usage: 'session close <id>',
    summary: 'close a session, so that resume_session no longer offers it; if an agent continues it, it is open again',
    load: async () => (await import('./upkeep/session-close.ts')).sessionClose,
  },
  {
    usage: 'session accept <id>',
    summary: 'accept an imported session, so that agents can resume it (works only in a terminal)',
    load: async () => (await import('./upkeep/session-accept.ts')).sessionAccept,
  },
  {
    usage: 'session hand-over <id> <principal>',
    summary: 'make somebody else the owner of a team session',
    load: async () => (await import('./upkeep/team-access.ts')).sessionHandOver,
  },
  {
    usage: 'session fork-from-valid <id>',
    summary: 'make a new session from the intact part of a damaged one, so that the work continues',
    load: async () => (await import('./upkeep/session-fork.ts')).sessionFork,
  },
  {
    usage: 'session keep <id...>',
    summary: 'protect sessions from gc',
    load: async () => (await import('./upkeep/session-keep.ts')).sessionKeep,
  },
  {
    usage: 'session delete',
    summary: 'move sessions to the bin; after 30 days, gc deletes them for good',
    load: async () => (await import('./upkeep/session-delete.ts')).sessionDelete,
  },
  {
    usage: 'session prefer <id>',
    summary: 'set the preferences of a session: mode and risk policy',
    load: async () => (await import('./upkeep/session-prefer.ts')).sessionPrefer,
  },
  {
    usage: 'gc',
    summary: 'delete old sessions and the data that only they used',
    load: async () => (await import('./upkeep/gc.ts')).gc,
  },
  {
    usage: 'search <words...>',
    summary: 'find sessions by words in goals, notes and artifacts',
    load: async () => (await import('./sessions/search.ts')).search,
  },
  {
    usage: 'workflow list',
    summary: 'list the workflows you can start here, and invalid workflow files',
    load: async () => (await import('./author/workflow-list.ts')).workflowList,
  },
  {
    usage: 'workflow show <id>',
    summary: 'describe a workflow: purpose, steps and size',
    load: async () => (await import('./author/workflow-show.ts')).workflowShow,
  },
  {
    usage: 'workflow preview <id>',
    summary: 'show the compiled steps, or one step exactly as an agent reads it',
    load: async () => (await import('./author/workflow-preview.ts')).workflowPreview,
  },
  {
    usage: 'workflow check',
    summary: 'report errors and quality warnings in workflow files',
    load: async () => (await import('./author/workflow-check.ts')).workflowCheck,
  },
  {
    usage: 'workflow dry-run <id>',
    summary: 'walk through a workflow without an agent; nothing is saved',
    load: async () => (await import('./author/workflow-dry-run.ts')).workflowDryRun,
  },
  {
    usage: 'workflow test',
    summary: 'run the test scenarios of workflows and report their coverage',
    load: async () => (await import('./author/workflow-test.ts')).workflowTest,
  },
  {
    usage: 'workflow new',
    summary: 'create a workflow from a template, with passing test scenarios',
    load: async () => (await import('./author/workflow-new.ts')).workflowNew,
  },
  {
    usage: 'workflow copy <id>',
    summary: 'copy a workflow under a new id so that you can change it',
    load: async () => (await import('./author/workflow-copy.ts')).workflowCopy,
  },
  {
    usage: 'workflow migrate-id <old-id> <new-id>',
    summary: 'change the id of a workflow everywhere it is used',
    load: async () => (await import('./author/workflow-migrate-id.ts')).workflowMigrateId,
  },
  {
    usage: 'workflow diff <workflow-or-session>',
    summary: 'compare two workflows, or a run with its workflow, step by step',
    load: async () => (await import('./author/workflow-diff.ts')).workflowDiffCommand,
  },
  {
    usage: 'workflow uses <id>',
    summary: 'list the runs of a workflow, grouped by the version they use',
    load: async () => (await import('./author/library-commands.ts')).workflowUsesCommand,
  },
  {
    usage: 'workflow builtins',
    summary:
      'list what a workflow file can refer to by name (contracts, texts and conditions that are built in), and which workflows use it',
    load: async () => (await import('./author/library-commands.ts')).workflowBuiltins,
  },
  {
    usage: 'source list',
    summary: 'list workflow sources, with their pinned commit and status',
    load: async () => (await import('./sources.ts')).sourceList,
  },
  {
    usage: 'source add <address>',
    summary: 'add workflows from a git repository, a folder or an npm package',
    load: async () => (await import('./sources.ts')).sourceAdd,
  },
  {
    usage: 'source remove <name>',
    summary: 'remove a source; runs started from it can continue',
    load: async () => (await import('./sources.ts')).sourceRemove,
  },
  {
    usage: 'source update',
    summary: 'move git sources to the newest commit of their branch',
    load: async () => (await import('./sources.ts')).sourceUpdate,
  },
  {
    usage: 'source accept',
    summary: 'look at the sources that this project asks for, and let agents here use them; in a terminal only',
    load: async () => (await import('./author/source-accept.ts')).sourceAccept,
  },
  {
    usage: 'export <id...>',
    summary: 'write sessions to a file or standard output: a bundle to import elsewhere, a report or a signed passport',
    load: async () => (await import('./bundle/export.ts')).exportCommand,
  },
  {
    usage: 'verify <passport...>',
    summary: 'check passports (signed records of sessions) with a public key',
    load: async () => (await import('./bundle/passport.ts')).verify,
  },
  {
    usage: 'passport check <passport>',
    summary: 'decide from a passport whether a change may be merged',
    load: async () => (await import('./bundle/passport-check.ts')).passportCheck,
  },
  {
    usage: 'import <file>',
    summary: 'check a bundle, then import its session',
    load: async () => (await import('./bundle/import.ts')).importCommand,
  },
  {
    usage: 'config get <key>',
    summary: 'print one setting',
    load: async () => (await import('./settings.ts')).configGet,
  },
  {
    usage: 'config set <key>',
    summary: 'change one setting, for you or for this project',
    load: async () => (await import('./settings.ts')).configSet,
  },
  {
    usage: 'config list',
    summary: 'print every setting and where its value comes from',
    load: async () => (await import('./settings.ts')).configList,
  },
  {
    usage: 'config servers',
    summary: 'show running servers, and whether a restart is needed to apply the settings',
    load: async () => (await import('./settings.ts')).configServers,
  },
  {
    usage: 'config path',
    summary: 'print the paths of the settings files',
    load: async () => (await import('./settings.ts')).configPath,
  },
  {
    usage: 'approvers add <key>',
    summary: 'let somebody sign approvals with a key (only in a terminal)',
    load: async () => (await import('./sessions/approvers.ts')).approversAdd,
  },
  {
    usage: 'approvers list',
    summary: 'list the people whose signatures are accepted in this folder',
    load: async () => (await import('./sessions/approvers.ts')).approversList,
  },
  {
    usage: 'approvers remove <name>',
    summary: 'remove the keys of an approver from your list',
    load: async () => (await import('./sessions/approvers.ts')).approversRemove,
  },
  {
    usage: 'keys public',
    summary: 'print the public key with which others check sessions and passports of this machine',
    load: async () => (await import('./keys.ts')).keysPublic,
  },
  {
    usage: 'keys rotate',
    summary: 'create a new signing key; tokens of the old one stay valid until the next rotation',
    load: async () => (await import('./keys.ts')).keysRotate,
  },
  {
    usage: 'keys repair',
    summary: 'move damaged keys aside and make new ones; all existing tokens become invalid',
    load: async () => (await import('./keys.ts')).keysRepair,
  },
  {
    usage: 'keys status',
    summary: 'list the keys of the data folder and their ids',
    load: async () => (await import('./keys.ts')).keysStatus,
  },
  ...TEAM_COMMANDS,
  {
    usage: 'completion <shell>',
    summary: 'print a shell script that completes commands and ids',
    load: async () => (await import('./completion.ts')).completion,
  },
  {
    usage: 'version',
    summary: 'print the version',
    load: async () => (await import('./version.ts')).version,
  },
];
