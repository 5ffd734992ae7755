import { useNavigate, useSearch } from '@tanstack/react-router';
import { useRef } from 'react';
import { readSessionSearch, type SessionSearch, withSearch } from '../state/session-search.ts';

type Change = { readonly [part in keyof SessionSearch]?: SessionSearch[part] | undefined };

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
