import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { read } from '../state/api.ts';
import type { Connection } from '../state/live.ts';
import { setTheme, THEMES, useTheme } from '../state/looks.ts';
import { KEYS, useKeys } from './keys.tsx';

/** The frame around every page: where one can go, and whether what is shown is live. */
export function Shell({ connection }: { readonly connection: Connection }) {
  const navigate = useNavigate();
  const sheet = useRef<HTMLDialogElement>(null);
  // What waits is only fetched by the page that shows it: the time of an answer counts from there.
  const { data: listed } = useQuery({ queryKey: ['waiting-count'], queryFn: () => read('sessions', {}, { limit: 1 }) });
  const { data: about } = useQuery({ queryKey: ['about'], queryFn: () => read('about'), staleTime: Infinity });
  const count = listed?.waiting ?? 0;
  useEffect(() => {
    document.title = count === 0 ? 'WorkRail' : `(${count}) WorkRail`;
  }, [count]);
  useKeys({
    'g s': () => void navigate({ to: '/' }),
    'g w': () => void navigate({ to: '/waiting' }),
    '?': () => sheet.current?.showModal(),
  });
  return (
    <>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <nav className="rail" aria-label="Pages">
        <p className="brand">WorkRail</p>
        <Link to="/" activeOptions={{ exact: true, includeSearch: false }}>
          Sessions
        </Link>
        <Link to="/waiting">
          Waiting for you
          {count === 0 ? null : <span className="count">{count}</span>}
        </Link>
      </nav>
      <main id="main" tabIndex={-1}>
        <Outlet />
      </main>
      <footer>
        <span className={`connection ${connection}`} role="status">
          {connection === 'live' ? 'live' : 'the server does not answer'}
        </span>
        <span className="meta path">{about?.dataDir}</span>
        <span className="meta">{about === undefined ? '' : `workrail ${about.version}`}</span>
        <ThemeChoice />
        <button type="button" className="quiet" onClick={() => sheet.current?.showModal()}>
          Keys
        </button>
      </footer>
      <dialog ref={sheet} aria-labelledby="keys-title">
        <h2 id="keys-title">Keys</h2>
        <dl className="keys">
          {KEYS.map(({ keys, does }) => (
            <div key={keys}>
              <dt>
                <kbd>{keys}</kbd>
              </dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </dialog>
    </>
  );
}

function ThemeChoice() {
  const theme = useTheme();
  return (
    <label className="theme">
      Theme
      <select value={theme} onChange={({ target }) => setTheme(THEMES.find((one) => one === target.value) ?? 'system')}>
        {THEMES.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </label>
  );
}

/** The time now, renewed every half minute, for "3 min. ago". */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
