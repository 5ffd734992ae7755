import { AUTONOMY } from '../../core/log/autonomy.ts';
import type { Argument } from './argument.ts';

/** Arguments that several tools take. */

export const WORKFLOW_ID = {
  kind: 'text',
  about: 'An id from list_workflows.',
  isRequired: true,
  mistakenFor: ['workflow', 'id', 'name', 'workflowName'],
} as const satisfies Argument;

export const WORKSPACE_PATH = {
  kind: 'text',
  about: "Absolute path of a project, to include its workflows. Default: the client's workspace root.",
  mistakenFor: ['workspace', 'cwd', 'path', 'projectPath', 'root', 'directory', 'folder'],
} as const satisfies Argument;

export const STATE_TOKEN = {
  kind: 'token',
  slot: 'stateToken',
  about: 'Send only this token to see its step again. Nothing changes.',
  mistakenFor: ['state', 'resumeToken'],
} as const satisfies Argument;

export const OUTPUT = {
  kind: 'group',
  about: 'The result of the step.',
  mistakenFor: ['outputs', 'result', 'results', 'response'],
  fields: {
    notesMarkdown: {
      kind: 'text',
      isProse: true,
      about:
        'What you did, decided and found in this step only, as Markdown for a person. Earlier notes are kept; do not repeat them.',
      alsoNamed: ['notes'],
      mistakenFor: ['note', 'summary', 'markdown', 'text', 'content', 'message'],
    },
    artifacts: {
      kind: 'objects',
      textsInto: 'notesMarkdown',
      about: 'Structured results that the step asks for, each with its "kind".',
      mistakenFor: ['artifact'],
    },
  },
} as const satisfies Argument;

export const CONTEXT = {
  kind: 'object',
  about:
    'Facts that steps depend on, such as {"ticket":"AB-12"}. They are kept: send only changes; null removes a key.',
  mistakenFor: ['variables', 'inputs', 'params', 'parameters', 'ctx'],
} as const satisfies Argument;

/** What users call the modes. */
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
    'guided: ask the user where a step requires confirmation. full_auto_stop_on_user_deps: ask only for what the user must provide. full_auto_never_stop: never ask; record what is missing as a gap. A mode stays until you send another.',
  values: AUTONOMY,
  synonyms: MODE_WORDS,
  mistakenFor: ['autonomy', 'automation'],
} as const satisfies Argument;
