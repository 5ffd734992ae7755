import { useQuery } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import type { ConsoleReply } from '../../src/core/wire/console-shapes.ts';
import { type Places, type Query, type Read, read } from './api.ts';
import { isViewed } from './viewed.ts';

/** The session that the page is about: one of the store, or a file that was opened in this browser. */
export function useSessionId(): { readonly session: string; readonly isOwn: boolean } {
  const { session } = useParams({ from: '/sessions/$session' });
  // What only the machine of a session knows or can do is not there for a file.
  return { session, isOwn: !isViewed(session) };
}

type Asked = {
  readonly at?: Omit<Places, 'session'>;
  readonly query?: Query;
  readonly staleTime?: number;
  readonly retry?: false;
  readonly enabled?: boolean;
};

/** What can be read as it was at an earlier event. */
const EARLIER: readonly string[] = ['session', 'run', 'notes', 'step', 'raw'];

/** What a request for the moment that the page shows carries. */
export function useMoment(): { readonly until?: string } {
  const { until } = useSearch({ strict: false }) as { readonly until?: string };
  return until === undefined ? {} : { until };
}

/** Something of that session. */
export function useRead<Path extends Read>(name: Path, { at = {}, query: given = {}, ...more }: Asked = {}) {
  const { session } = useSessionId();
  const moment = useMoment();
  const query = EARLIER.includes(name) ? { ...given, ...moment } : given;
  return useQuery<ConsoleReply<Path>>({
    queryKey: [name, session, at, query],
    // Another moment of the same thing takes its place once it was read, so that nothing that is in use disappears.
    placeholderData: (before, asked) =>
      asked !== undefined && withoutMoment(asked.queryKey) === withoutMoment([name, session, at, query])
        ? before
        : undefined,
    queryFn: () => read(name, { session, ...at }, query),
    ...more,
  });
}

function withoutMoment(key: readonly unknown[]): string {
  return JSON.stringify(key, (name, value) => (name === 'until' ? undefined : value));
}
