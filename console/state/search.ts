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

export const TABS = ['notes', 'prompt', 'why', 'data', 'follow-ups', 'raw'] as const;
export type Tab = (typeof TABS)[number];

/** What the address of a session says. */
export type SessionSearch = {
  readonly run?: string;
  /** The node of the chosen row. */
  readonly step?: string;
  readonly tab?: Tab;
  /** Branches other than the one where work goes on are folded unless all are shown. */
  readonly branches?: 'all';
};

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

export function readSessionSearch(given: Given): SessionSearch {
  const [run, step] = [text(given['run']), text(given['step'])];
  const tab = TABS.find((one) => one === given['tab']);
  const isAll = given['branches'] === 'all';
  return { ...(run && { run }), ...(step && { step }), ...(tab && { tab }), ...(isAll && { branches: 'all' }) };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
