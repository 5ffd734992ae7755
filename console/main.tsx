import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  Link,
  lazyRouteComponent,
  RouterProvider,
} from '@tanstack/react-router';
import { StrictMode, useEffect, useRef, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Sessions } from './pages/sessions.tsx';
import { Waiting } from './pages/waiting.tsx';
import { CommandHint } from './parts/panels.tsx';
import { type Liveness, Shell } from './parts/shell.tsx';
import { BASE, IS_TEAM, onSignedIn, Refused, type SignedIn, signIn, signInAddress, signOut } from './state/api.ts';
import { listen } from './state/live.ts';
import { applyLooks } from './state/looks.ts';
import {
  readBuiltinSearch,
  readCompareSearch,
  readEditorSearch,
  readLibrarySearch,
  readNewSearch,
  readSessionsSearch,
  readWords,
  readWorkflowSearch,
} from './state/search.ts';
import { readSessionSearch } from './state/session-search.ts';
import './style/console.css';
import './style/lists.css';

applyLooks();

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

const compare = createRoute({
  getParentRoute: () => root,
  path: '/compare',
  component: lazyRouteComponent(() => import('./pages/compare.tsx'), 'Compare'),
  validateSearch: readCompareSearch,
});

const search = createRoute({
  getParentRoute: () => root,
  path: '/search',
  component: lazyRouteComponent(() => import('./pages/find.tsx'), 'Find'),
  validateSearch: readWords,
});

const open = createRoute({
  getParentRoute: () => root,
  path: '/open',
  component: lazyRouteComponent(() => import('./pages/open.tsx'), 'Open'),
});

const workflows = createRoute({
  getParentRoute: () => root,
  path: '/workflows',
  component: lazyRouteComponent(() => import('./pages/workflows.tsx'), 'Workflows'),
  validateSearch: readLibrarySearch,
});

const workflow = createRoute({
  getParentRoute: () => root,
  path: '/workflows/$id',
  component: lazyRouteComponent(() => import('./pages/workflow.tsx'), 'Workflow'),
  validateSearch: readWorkflowSearch,
});

const builtins = createRoute({
  getParentRoute: () => root,
  path: '/builtins',
  component: lazyRouteComponent(() => import('./pages/builtins.tsx'), 'Builtins'),
  validateSearch: readBuiltinSearch,
});

const newWorkflow = createRoute({
  getParentRoute: () => root,
  path: '/workflows/new',
  component: lazyRouteComponent(() => import('./editor/new-workflow.tsx'), 'NewWorkflowPage'),
  validateSearch: readNewSearch,
});

const editor = createRoute({
  getParentRoute: () => root,
  path: '/workflows/$workflow/edit',
  component: lazyRouteComponent(() => import('./editor/editor.tsx'), 'Editor'),
  validateSearch: readEditorSearch,
});

const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings/$page',
  component: lazyRouteComponent(() => import('./settings/settings.tsx'), 'Settings'),
});

const team = createRoute({
  getParentRoute: () => root,
  path: '/team/$page',
  component: lazyRouteComponent(() => import('./pages/team/team.tsx'), 'Team'),
});

const router = createRouter({
  routeTree: root.addChildren([
    sessions,
    session,
    waiting,
    compare,
    search,
    open,
    workflows,
    workflow,
    builtins,
    newWorkflow,
    editor,
    settings,
    team,
  ]),
  defaultNotFoundComponent: NoPage,
  ...(IS_TEAM && { basepath: BASE }),
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

function NoPage() {
  return (
    <section className="panel empty">
      <h1>There is no such page</h1>
      <p>
        <Link to="/" search={{}}>
          Go to the sessions
        </Link>
        , or press <kbd>Ctrl k</kbd> and say where you want to go.
      </p>
    </section>
  );
}

/** What was read may be old, except what never changes. */
function readAgain(): void {
  const predicate = ({ queryKey }: { readonly queryKey: readonly unknown[] }) => queryKey[0] !== 'prompt';
  // A first reading that is under way may have begun before the change, and the library does not begin it again.
  for (const { queryKey, state, promise } of queries.getQueryCache().findAll({ predicate, fetchStatus: 'fetching' })) {
    const again = () => queries.invalidateQueries({ queryKey, exact: true });
    if (state.data === undefined) void promise?.then(again, () => undefined);
  }
  void queries.invalidateQueries({ predicate });
}

function Frame() {
  const [isLive, setLive] = useState(true);
  const [missed, setMissed] = useState<number | undefined>(undefined);
  const isPaused = useRef(false);
  useEffect(
    () =>
      listen((told) => {
        if (told.kind === 'connection') setLive(told.connection === 'live');
        else if (told.kind === 'signed_out') void queries.refetchQueries({ queryKey: ['waiting-count'] });
        else if (isPaused.current) setMissed((count = 0) => count + 1);
        else readAgain();
      }),
    [],
  );
  const pause = () => {
    isPaused.current = !isPaused.current;
    setMissed(isPaused.current ? 0 : undefined);
    if (!isPaused.current) readAgain();
  };
  const liveness: Liveness = missed === undefined ? { kind: isLive ? 'live' : 'off' } : { kind: 'paused', missed };
  return <Shell liveness={liveness} onPause={pause} />;
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

const SIGN_IN_PROBLEMS: { readonly [why: string]: string } = {
  none: 'This server has no sign-in for browsers yet. Its operator adds it with "workrail serve --team --client-id ID".',
  refused: 'The identity provider did not sign you in. Try it again, or ask who runs it.',
  unreachable: 'The identity provider does not answer. Try it again in a moment.',
};

/** Shown on a team server to a browser that is not signed in, or to somebody who has no role in the space. */
function SignedOutOfTeam({ state }: { readonly state: SignedIn }) {
  const query = new URLSearchParams(location.search);
  const problem = SIGN_IN_PROBLEMS[query.get('sign-in') ?? ''];
  query.delete('sign-in');
  const search = query.toString();
  const to = `${location.pathname.slice(BASE.length)}${search === '' ? '' : `?${search}`}`;
  return (
    <main className="signed-out">
      <h1>{state.kind === 'refused' ? 'You have no role here' : 'Sign in to see this space'}</h1>
      <p>
        {state.kind === 'refused'
          ? `${state.error.message} ${state.error.suggestion}`
          : 'The sessions of your team are here for everybody who has a role in this space.'}
      </p>
      {problem && (
        <p className="warning" role="alert">
          {problem}
        </p>
      )}
      <p>
        <a className="button main" href={signInAddress(to, state.kind === 'refused')}>
          {state.kind === 'refused' ? 'Sign in as somebody else' : 'Sign in'}
        </a>
      </p>
    </main>
  );
}

function Page() {
  const [state, setState] = useState<SignedIn | undefined>(undefined);
  useEffect(() => {
    void signIn().then(setState);
    return queries.getQueryCache().subscribe(({ query }) => {
      const { error } = query.state;
      if (!(error instanceof Refused) || error.status !== 401) return;
      signOut();
      setState({ kind: 'out' });
    });
  }, []);
  useEffect(() => {
    if (state?.kind !== 'out' || IS_TEAM) return undefined;
    return onSignedIn(() => {
      queries.clear();
      void signIn().then(setState);
    });
  }, [state]);
  if (state === undefined) return null;
  if (state.kind !== 'in') return IS_TEAM ? <SignedOutOfTeam state={state} /> : <SignedOut />;
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
