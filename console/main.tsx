import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  RouterProvider,
} from '@tanstack/react-router';
import { StrictMode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Sessions } from './pages/sessions.tsx';
import { Waiting } from './pages/waiting.tsx';
import { CommandHint } from './parts/panels.tsx';
import { Shell } from './parts/shell.tsx';
import { Refused, signIn, signOut } from './state/api.ts';
import { type Connection, listen } from './state/live.ts';
import { applyTheme } from './state/looks.ts';
import { readSessionSearch, readSessionsSearch } from './state/search.ts';
import './style/console.css';

applyTheme();

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      refetchOnWindowFocus: false,
      retry: (count, error) => !(error instanceof Refused) && count < 2,
    },
  },
});

const root = createRootRouteWithContext()({ component: Frame });

const sessions = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: Sessions,
  validateSearch: readSessionsSearch,
});

const session = createRoute({
  getParentRoute: () => root,
  path: '/sessions/$session',
  // What renders a run is only loaded for a run.
  component: lazyRouteComponent(() => import('./pages/session.tsx'), 'Session'),
  validateSearch: readSessionSearch,
});

const waiting = createRoute({ getParentRoute: () => root, path: '/waiting', component: Waiting });

const router = createRouter({
  routeTree: root.addChildren([sessions, session, waiting]),
  defaultNotFoundComponent: NoPage,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

function NoPage() {
  return <p className="panel">There is no such page. The sessions are behind the first link.</p>;
}

function Frame() {
  const [connection, setConnection] = useState<Connection>('live');
  useEffect(
    () =>
      listen((told) => {
        if (told.kind === 'connection') setConnection(told.connection);
        else void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'prompt' });
      }),
    [],
  );
  return <Shell connection={connection} />;
}

/** Shown instead of any page to a browser that was not given a link. */
function SignedOut() {
  return (
    <main className="signed-out">
      <h1>This page needs a link</h1>
      <p>
        Only a browser that was opened by the console may look at your sessions. Run this command, and open the link
        that it prints:
      </p>
      <CommandHint command="workrail console" />
    </main>
  );
}

function Page() {
  const [isSignedIn, setSignedIn] = useState<boolean | undefined>(undefined);
  useEffect(() => {
    void signIn().then(setSignedIn);
    return queries.getQueryCache().subscribe(({ query }) => {
      const { error } = query.state;
      if (!(error instanceof Refused) || error.status !== 401) return;
      signOut();
      setSignedIn(false);
    });
  }, []);
  if (isSignedIn === undefined) return null;
  if (!isSignedIn) return <SignedOut />;
  return (
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  );
}

createRoot(document.getElementById('page') as HTMLElement).render(
  <StrictMode>
    <Page />
  </StrictMode>,
);
