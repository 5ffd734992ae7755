import { AUTONOMY } from '../../core/log/autonomy.ts';
import type { Argument } from './argument.ts';

/** Arguments that several tools take, each told in the words that fit the tool. */

export const WORKFLOW_ID = {
  kind: 'text',
  about: 'An id from list_workflows.',
  isRequired: true,
  mistakenFor: ['workflow', 'id', 'name', 'workflowName'],
} as const satisfies Argument;

export const WORKSPACE_PATH = {
  kind: 'text',
  about: 'Absolute path of the project whose own workflows count too. Default: the root the client tells.',
  mistakenFor: ['workspace', 'cwd', 'path', 'projectPath', 'root', 'directory', 'folder'],
} as const satisfies Argument;

export const STATE_TOKEN = {
  kind: 'token',
  slot: 'stateToken',
  about: 'Alone: show its step again. Not needed beside another token.',
  mistakenFor: ['state', 'resumeToken'],
} as const satisfies Argument;

export const OUTPUT = {
  kind: 'group',
  about: 'What came out of the step.',
  mistakenFor: ['outputs', 'result', 'results', 'response'],
  fields: {
    notesMarkdown: {
      kind: 'text',
      about:
        'What you did, decided and found in this step only, in Markdown for a person to read. Earlier notes are kept; do not repeat them.',
      alsoNamed: ['notes'],
      mistakenFor: ['note', 'summary', 'markdown', 'text', 'content', 'message'],
    },
    artifacts: {
      kind: 'objects',
      textsInto: 'notesMarkdown',
      about: 'Structured results the step asks for, each with its "kind".',
      mistakenFor: ['artifact'],
    },
  },
} as const satisfies Argument;

export const CONTEXT = {
  kind: 'object',
  about: 'Facts the steps depend on, like {"ticket":"AB-12"}. Kept: send only what is new; null removes.',
  mistakenFor: ['variables', 'inputs', 'params', 'parameters', 'ctx'],
} as const satisfies Argument;

/** What users say when they mean one of the modes. */
const MODE_WORDS = {
  auto: 'full_auto_stop_on_user_deps',
  'full auto': 'full_auto_stop_on_user_deps',
  autonomous: 'full_auto_stop_on_user_deps',
  automatic: 'full_auto_stop_on_user_deps',
  'stop on user deps': 'full_auto_stop_on_user_deps',
  'never stop': 'full_auto_never_stop',
  'full auto no stop': 'full_auto_never_stop',
  nonstop: 'full_auto_never_stop',
  unattended: 'full_auto_never_stop',
  manual: 'guided',
  guide: 'guided',
  interactive: 'guided',
  default: 'guided',
} as const;

export const MODE = {
  kind: 'choice',
  about:
    'How far to go without the user: guided asks; full_auto_stop_on_user_deps stops only for what a user alone can give; full_auto_never_stop goes on and records gaps.',
  values: AUTONOMY,
  synonyms: MODE_WORDS,
  mistakenFor: ['autonomy', 'automation'],
} as const satisfies Argument;
