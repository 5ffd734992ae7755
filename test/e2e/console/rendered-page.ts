import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { createElement, type FunctionComponent } from 'react';
import { renderToString } from 'react-dom/server';
import type { Asked, Got } from './console-server.ts';

/** A page of the console as React draws it, with what a real server says, on machines that have no browser, too. */
export type RenderedPage = {
  readonly html: string;
  /** What a reader sees, folded parts included. */
  readonly text: string;
  /** The rows of the steps, each as one line. */
  readonly rows: readonly string[];
};

/** The page reads these where it is loaded. */
const BROWSER = { getItem: () => null, setItem: () => undefined, removeItem: () => undefined };

type Pages = { readonly [path: string]: readonly [page: FunctionComponent, search: (given: object) => object] };

const fromConsole = (file: string) => import(new URL(`../../../console/${file}`, import.meta.url).href);

/** Draws pages by their addresses, with what a signed-in page is answered. */
export function pageRenderer(call: (asked: Asked) => Promise<Got>): (address: string) => Promise<RenderedPage> {
  const outside = {
    fetch: globalThis.fetch,
    sessionStorage: undefined,
    localStorage: undefined,
    matchMedia: undefined,
    location: undefined,
  };
  const inside = {
    sessionStorage: BROWSER,
    localStorage: BROWSER,
    location: new URL('http://localhost/'),
    matchMedia: () => ({ matches: false, addEventListener: () => undefined }),
    fetch: async (path: string, { method = 'GET', body }: { method?: string; body?: string } = {}) => {
      const got = await call({ method, path, ...(body === undefined ? {} : { body }) });
      return new Response(got.text, { status: got.status });
    },
  };
  return async (address) => {
    Object.assign(globalThis, inside);
    try {
      return readPage(await render(address));
    } finally {
      Object.assign(globalThis, outside);
    }
  };
}

async function render(address: string): Promise<string> {
  const names = ['sessions', 'session', 'waiting', 'workflows', 'workflow', 'builtins'];
  const loaded = await Promise.all(names.map((name) => fromConsole(`pages/${name}.tsx`)));
  const { Sessions, Session, Waiting, Workflows, Workflow, Builtins } = Object.assign({}, ...loaded);
  const { readSessionSearch } = await fromConsole('state/session-search.ts');
  const searches = await fromConsole('state/search.ts');
  const root = createRootRoute();
  const pages: Pages = {
    '/': [Sessions, searches.readSessionsSearch],
    '/sessions/$session': [Session, readSessionSearch],
    '/waiting': [Waiting, readSessionSearch],
    '/workflows': [Workflows, searches.readLibrarySearch],
    '/workflows/$id': [Workflow, searches.readWorkflowSearch],
    '/builtins': [Builtins, searches.readBuiltinSearch],
  };
  const routes = Object.entries(pages).map(([path, [component, validateSearch]]) =>
    createRoute({ getParentRoute: () => root, path, component, validateSearch }),
  );
  const history = createMemoryHistory({ initialEntries: [address] });
  const router = createRouter({ routeTree: root.addChildren(routes), history });
  await router.load();
  const client = new QueryClient({ defaultOptions: { queries: { retry: false, retryOnMount: false } } });
  const page = createElement(QueryClientProvider, { client }, createElement(RouterProvider, { router } as never));
  for (;;) {
    const html = renderToString(page);
    // Nothing is fetched while a page is drawn on a server, so what it asked for is fetched in between.
    const missing = client
      .getQueryCache()
      .getAll()
      .filter(({ state }) => state.status === 'pending');
    if (html.includes('server rendering errored')) throw new Error(html);
    if (missing.length === 0) return html;
    await Promise.allSettled(missing.map((query) => query.fetch()));
  }
}

function readPage(html: string): RenderedPage {
  const [, ...rows] = html.split(/<div[^>]* role="row"/);
  return { html, text: textOf(html), rows: rows.map((row) => textOf(`<div ${row.split('</div>')[0]}`)) };
}

function textOf(html: string): string {
  const plain = html.replaceAll(/<!-- -->/g, '').replaceAll(/<[^>]*>/g, ' ');
  return plain
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'")
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
