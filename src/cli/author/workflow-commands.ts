import type { CommandEntry } from '../command.ts';

const CONTEXT = { flags: '--context <json>', help: 'what is in context, as a JSON object' };
const MODE = { flags: '--mode <mode>', help: 'guided (default), full_auto_stop_on_user_deps or full_auto_never_stop' };
const ALL = { flags: '--all', help: 'every workflow there is, the bundle and all sources included' };
const TO = { flags: '--to <place>', help: 'project (this folder, default) or user (everywhere)' };

export const WORKFLOW_COMMANDS: readonly CommandEntry[] = [
  {
    group: 'workflow',
    verb: 'list',
    summary: 'show every workflow that can be started here, and files that cannot be used',
    operands: { syntax: '[words...]', help: 'words that must occur in id, name, description or tags' },
    options: [{ flags: '--tag <tag>', help: 'a tag that it must have' }],
    example: 'workrail workflow list review',
    load: async () => (await import('./workflow-list.ts')).workflowList,
  },
  {
    group: 'workflow',
    verb: 'show',
    summary: 'tell what a workflow is for, its steps and its size',
    operands: { syntax: '<id>', help: 'a workflow or its file' },
    example: 'workrail workflow show wr.first_steps',
    load: async () => (await import('./workflow-show.ts')).workflowShow,
  },
  {
    group: 'workflow',
    verb: 'preview',
    summary: 'show the compiled steps, or one of them exactly as an agent reads it',
    operands: { syntax: '<id>', help: 'a workflow or its file' },
    options: [{ flags: '--step <step>', help: 'the step to show' }, CONTEXT, MODE],
    example: 'workrail workflow preview wr.first_steps --step look',
    load: async () => (await import('./workflow-preview.ts')).workflowPreview,
  },
  {
    group: 'workflow',
    verb: 'check',
    summary: 'tell everything that is wrong with workflow files, or could be better, and where',
    operands: {
      syntax: '[file-or-id...]',
      help: 'files, folders or ids; left out: those of this project, or your own',
    },
    options: [
      { flags: '--fix', help: 'mend what a machine can mend' },
      { flags: '--strict', help: 'fail for warnings, too' },
      { flags: '--watch', help: 'check again whenever something changes' },
      ALL,
      { flags: '--explain <rule>', help: 'tell what a rule of quality is about, and check nothing' },
    ],
    example: 'workrail workflow check --strict',
    load: async () => (await import('./workflow-check.ts')).workflowCheck,
  },
  {
    group: 'workflow',
    verb: 'dry-run',
    summary: 'walk through a workflow in the place of an agent; nothing is kept',
    operands: { syntax: '<id>', help: 'a workflow or its file' },
    options: [
      { flags: '--script <file>', help: 'what the agent hands in, instead of asking' },
      { flags: '--yes', help: 'hand in the example of every step, instead of asking' },
      CONTEXT,
      MODE,
    ],
    example: 'workrail workflow dry-run wr.first_steps --yes',
    load: async () => (await import('./workflow-dry-run.ts')).workflowDryRun,
  },
  {
    group: 'workflow',
    verb: 'test',
    summary: 'play the scenarios beside workflows, also with a lossy agent, and show what they reach',
    operands: {
      syntax: '[file-or-id...]',
      help: 'ids, files, folders, or *.test.json; left out: those of this project, or your own',
    },
    options: [
      {
        flags: '--min-coverage <percent>',
        help: 'fail below this share of steps and condition outcomes (100 or 100,90), and without scenarios',
      },
      ALL,
    ],
    example: 'workrail workflow test wr.first_steps',
    load: async () => (await import('./workflow-test.ts')).workflowTest,
  },
  {
    group: 'workflow',
    verb: 'new',
    summary: 'write a workflow to begin with, and scenarios that it passes',
    operands: { syntax: '[id]', help: 'namespace.name; asked for in a terminal' },
    options: [
      { flags: '--template <name>', help: 'blank (default), loop or gate' },
      { flags: '--name <text>', help: 'its name' },
      { flags: '--description <text>', help: 'what it does, in a sentence' },
      TO,
      { flags: '--yes', help: 'ask nothing' },
    ],
    example: 'workrail workflow new team.release_check --template loop',
    load: async () => (await import('./workflow-new.ts')).workflowNew,
  },
  {
    group: 'workflow',
    verb: 'copy',
    summary: 'put a copy of a workflow under an id of your own, to change it',
    operands: { syntax: '<id-and-new-id...>', help: 'a workflow, and the id of the copy' },
    options: [TO],
    example: 'workrail workflow copy wr.first_steps team.first_steps',
    load: async () => (await import('./workflow-copy.ts')).workflowCopy,
  },
  {
    group: 'workflow',
    verb: 'migrate-id',
    summary: 'give a workflow another id, in its file and wherever it is referred to',
    operands: { syntax: '<old-and-new-id...>', help: 'the id it has, and the one it gets' },
    options: [{ flags: '--dry-run', help: 'tell what would change, and change nothing' }],
    example: 'workrail workflow migrate-id my-review team.review --dry-run',
    load: async () => (await import('./workflow-migrate-id.ts')).workflowMigrateId,
  },
  {
    group: 'workflow',
    verb: 'diff',
    summary: 'tell what differs, step by step, between two workflows or between a run and its source',
    operands: {
      syntax: '<one-or-two...>',
      help: 'files, ids, or sessions; a session alone is compared with the source',
    },
    example: 'workrail workflow diff wr.first_steps team.first_steps',
    load: async () => (await import('./workflow-diff.ts')).workflowDiffCommand,
  },
];
