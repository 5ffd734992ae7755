import { SESSION_STATES, type SessionState } from '../../src/core/sessions/session-state.ts';

/** What the address of the list says. */
export type SessionsSearch = { readonly q?: string; readonly state?: SessionState };

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

export function readSessionsSearch({ q: words, state: named }: Given): SessionsSearch {
  const q = text(words);
  const state = SESSION_STATES.find((one) => one === named);
  return { ...(q && { q }), ...(state && { state }) };
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
