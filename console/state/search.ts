import {
  BOARD_GROUPS,
  BOARD_SORTS,
  type BoardGroup,
  type BoardSort,
  SESSION_STATES,
  type SessionState,
} from '../../src/core/sessions/session-state.ts';

/** What the address of the list says. */
export type SessionsSearch = {
  readonly q?: string;
  readonly state?: SessionState;
  readonly sort?: BoardSort;
  readonly group?: BoardGroup;
};

/** What the address of a comparison says. */
export type CompareSearch = { readonly [part in (typeof COMPARED)[number]]?: string };

const COMPARED = ['a', 'b', 'aRun', 'bRun', 'aAt', 'bAt'] as const;

/** What is shown beside the text of a workflow. */
export const EDITOR_PANELS = ['problems', 'preview', 'rehearse', 'tests', 'insert'] as const;

/** What the address of the editor says. */
export type EditorSearch = {
  readonly file?: 'tests';
  readonly panel?: (typeof EDITOR_PANELS)[number];
  /** The built-in to be inserted. */
  readonly insert?: string;
};

/** What a new workflow is to be made from. */
export type NewSearch = { readonly copy?: string; readonly session?: string; readonly run?: string };

type Given = Readonly<Record<string, unknown>>;

export function readSessionsSearch(given: Given): SessionsSearch {
  const q = text(given['q']);
  const state = SESSION_STATES.find((one) => one === given['state']);
  const sort = BOARD_SORTS.find((one) => one === given['sort'] && one !== 'recent');
  const group = BOARD_GROUPS.find((one) => one === given['group']);
  return { ...(q && { q }), ...(state && { state }), ...(sort && { sort }), ...(group && { group }) };
}

export function readCompareSearch(given: Given): CompareSearch {
  return Object.fromEntries(COMPARED.flatMap((part) => (text(given[part]) ? [[part, text(given[part])]] : [])));
}

export function readWords({ q }: Given): { readonly q?: string } {
  return text(q) === undefined ? {} : { q: String(q) };
}

/** What the address of the workflows says. */
export type LibrarySearch = { readonly [part in (typeof LIBRARY)[number]]?: string };

const LIBRARY = ['q', 'source', 'tag', 'kind'] as const;

export function readLibrarySearch(given: Given): LibrarySearch {
  return Object.fromEntries(LIBRARY.flatMap((part) => (text(given[part]) ? [[part, text(given[part])]] : [])));
}

export const WORKFLOW_TABS = ['overview', 'source', 'compiled', 'runs'] as const;

/** What the address of a workflow says; `a` and `b` are the versions that are compared. */
export type WorkflowSearch = {
  readonly tab?: (typeof WORKFLOW_TABS)[number];
  readonly a?: string;
  readonly b?: string;
};

export function readWorkflowSearch(given: Given): WorkflowSearch {
  const tab = WORKFLOW_TABS.find((one) => one === given['tab'] && one !== 'overview');
  const [a, b] = [text(given['a']), text(given['b'])];
  return { ...(tab && { tab }), ...(a && { a }), ...(b && { b }) };
}

export const BUILTIN_KINDS = ['contract', 'feature', 'ref', 'template', 'routine', 'capability'] as const;

export type BuiltinSearch = { readonly q?: string; readonly kind?: (typeof BUILTIN_KINDS)[number] };

export function readBuiltinSearch(given: Given): BuiltinSearch {
  const kind = BUILTIN_KINDS.find((one) => one === given['kind']);
  return { ...readWords(given), ...(kind && { kind }) };
}

export function readEditorSearch(given: Given): EditorSearch {
  const insert = text(given['insert']);
  const panel = insert === undefined ? EDITOR_PANELS.find((one) => one === given['panel']) : 'insert';
  return { ...(given['file'] === 'tests' && { file: 'tests' }), ...(panel && { panel }), ...(insert && { insert }) };
}

export function readNewSearch(given: Given): NewSearch {
  const [copy, session, run] = [text(given['copy']), text(given['session']), text(given['run'])];
  return { ...(copy && { copy }), ...(session && { session }), ...(run && { run }) };
}

/** The pages of the settings, as their addresses name them. */
export const SETTINGS_PAGES = [
  'general',
  'preferences',
  'server',
  'sources',
  'clients',
  'doctor',
  'storage',
  'keys',
  'about',
] as const;

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
