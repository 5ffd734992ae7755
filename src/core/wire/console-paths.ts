/**
 * Every request that the console's page makes, by name: the method and the path. The server mounts this table and nothing
 * else, so a `POST` that is not here does not exist.
 */
export const CONSOLE_PATHS = {
  signIn: ['POST', '/api/session'],
  about: ['GET', '/api/about'],
  clients: ['GET', '/api/clients'],
  sessions: ['GET', '/api/sessions'],
  session: ['GET', '/api/sessions/:session'],
  run: ['GET', '/api/sessions/:session/runs/:run'],
  notes: ['GET', '/api/sessions/:session/runs/:run/notes'],
  drift: ['GET', '/api/sessions/:session/runs/:run/drift'],
  prefer: ['POST', '/api/sessions/:session/runs/:run/preferences'],
  step: ['GET', '/api/sessions/:session/nodes/:node'],
  prompt: ['GET', '/api/sessions/:session/nodes/:node/prompt'],
  raw: ['GET', '/api/sessions/:session/nodes/:node/raw'],
  resume: ['GET', '/api/sessions/:session/runs/:run/resume'],
  report: ['GET', '/api/sessions/:session/report'],
  mark: ['POST', '/api/sessions/:session/mark'],
  import: ['POST', '/api/import'],
  compare: ['GET', '/api/compare'],
  search: ['GET', '/api/search'],
  waiting: ['GET', '/api/waiting'],
  answer: ['POST', '/api/sessions/:session/gates/:node/answer'],
  workflows: ['GET', '/api/workflows'],
  workflow: ['GET', '/api/workflows/one'],
  uses: ['GET', '/api/workflows/uses'],
  versions: ['GET', '/api/workflows/versions'],
  builtins: ['GET', '/api/builtins'],
  events: ['GET', '/api/events'],
  editFile: ['GET', '/api/author/file'],
  checkText: ['POST', '/api/author/check'],
  suggest: ['POST', '/api/author/suggest'],
  previewText: ['POST', '/api/author/preview'],
  rehearse: ['POST', '/api/author/rehearse'],
  testText: ['POST', '/api/author/test'],
  saveFile: ['POST', '/api/author/save'],
  newWorkflow: ['GET', '/api/author/new'],
  createWorkflow: ['POST', '/api/author/new'],
} as const satisfies { readonly [name: string]: readonly ['GET' | 'POST', `/api/${string}`] };

export type ConsolePath = keyof typeof CONSOLE_PATHS;

/** Sent with every request but the first; the page gets its value when it signs in. */
export const PAGE_KEY_HEADER = 'x-workrail';
