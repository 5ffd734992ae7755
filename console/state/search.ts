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

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
