import { useNavigate, useSearch } from '@tanstack/react-router';
import { useRef } from 'react';

export const TABS = ['notes', 'prompt', 'why', 'data', 'follow-ups', 'raw'] as const;
export type Tab = (typeof TABS)[number];

/** What the address of a session says: every view of it can be sent to somebody else. */
export type SessionSearch = {
  readonly run?: string;
  /** The line and the node of the chosen row. */
  readonly line?: string;
  readonly step?: string;
  readonly tab?: Tab;
  /** Branches other than the one where work goes on are folded unless all are shown. */
  readonly branches?: 'all';
  /** Rows that were opened or folded, by their keys. */
  readonly rows?: string;
  /** Steps to come are shown too. */
  readonly plan?: 'shown';
  /** The chosen row is the one that is due. */
  readonly follow?: 'on';
  /** What happened across all runs is shown. */
  readonly timeline?: 'shown';
  /** What is signed, and by whom, is shown. */
  readonly signatures?: 'shown';
  /** The page shows the session as it was after this event. */
  readonly until?: string;
};

type Given = Readonly<Record<string, unknown>>;

const ONE_WORD = { branches: 'all', plan: 'shown', follow: 'on', timeline: 'shown', signatures: 'shown' } as const;

export function readSessionSearch(given: Given): SessionSearch {
  const texts = ['run', 'line', 'step', 'rows'].flatMap((name) => {
    const value = given[name];
    return typeof value === 'string' && value !== '' ? [[name, value]] : [];
  });
  const words = Object.entries(ONE_WORD).filter(([name, word]) => given[name] === word);
  const tab = TABS.find((one) => one === given['tab']);
  // Numbers in an address are read as such.
  const until = /^\d{1,9}$/.test(String(given['until'])) ? String(given['until']) : undefined;
  return { ...Object.fromEntries([...texts, ...words]), ...(tab && { tab }), ...(until && { until }) };
}

type Change = { readonly [part in keyof SessionSearch]?: SessionSearch[part] | undefined };

/** The same without what is `undefined`, so that an address has no empty parts. */
function withSearch(search: SessionSearch, change: Change): SessionSearch {
  const entries = Object.entries({ ...search, ...change });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

const SEPARATOR = '~';

export function toggledRows({ rows = '' }: SessionSearch): ReadonlySet<string> {
  return new Set(rows.split(SEPARATOR).filter((key) => key !== ''));
}

export function withToggled(search: SessionSearch, key: string): SessionSearch {
  const toggled = toggledRows(search);
  const next = toggled.has(key) ? [...toggled].filter((one) => one !== key) : [...toggled, key];
  return withSearch(search, { rows: next.length === 0 ? undefined : next.join(SEPARATOR) });
}

/** What the address says, and how to change it. It works on every page that shows a session. */
export function useSessionSearch() {
  const search = readSessionSearch(useSearch({ strict: false }) as Readonly<Record<string, unknown>>);
  const navigate = useNavigate();
  // A second key may be pressed before the address has changed.
  const latest = useRef(search);
  latest.current = search;
  const go = (change: Change) => {
    latest.current = withSearch(latest.current, change);
    const { current } = latest;
    void navigate({ to: '.', search: () => current as never, replace: true });
  };
  /** The search of a link: typed for no page in particular. */
  const searchFor = (next: SessionSearch) => next as never;
  return { search, latest, go, searchFor };
}
