import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { plural } from '../../src/core/text/words.ts';
import type { ConsoleReply } from '../../src/core/wire/console-shapes.ts';
import { IS_TEAM, read, signOut, write } from '../state/api.ts';
import { useChosen } from '../state/looks.ts';
import { called, exported, notice, offeredFile } from '../state/told.ts';
import { Dialog } from './dialog.tsx';
import { KEYS, useKeys } from './keys.tsx';
import { LookChoice } from './look-choices.tsx';
import { Button } from './panels.tsx';

const Palette = lazy(() => import('./palette.tsx').then((module) => ({ default: module.Palette })));
const ImportDialog = lazy(() => import('./import-dialog.tsx').then((module) => ({ default: module.ImportDialog })));
const ExportDialog = lazy(() => import('./export-dialog.tsx').then((module) => ({ default: module.ExportDialog })));

/** Whether what is shown is live. */
export type Liveness = { readonly kind: 'live' | 'off' } | { readonly kind: 'paused'; readonly missed: number };

type Parts = { readonly liveness: Liveness; readonly onPause: () => void };

/** The frame around every page: where one can go, and whether what is shown is live. */
export function Shell({ liveness, onPause }: Parts) {
  const navigate = useNavigate();
  const [isSheetOpen, setSheetOpen] = useState(false);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const closeSheet = () => setSheetOpen(false);
  const count = useWaitingCount();
  useFileDrop();
  useKeys({
    'g s': () => void navigate({ to: '/', search: {} }),
    'g w': () => void navigate({ to: '/waiting' }),
    'g f': () => void navigate({ to: '/search', search: {} }),
    ...(!IS_TEAM && {
      'g l': () => void navigate({ to: '/workflows', search: {} }),
      'g b': () => void navigate({ to: '/builtins', search: {} }),
      'g ,': () => void navigate({ to: '/settings/$page', params: { page: 'preferences' } }),
    }),
    'g o': () => void navigate({ to: '/open' }),
    '?': () => setSheetOpen(true),
    'Ctrl k': () => setPaletteOpen(true),
    y: () => void copyAddress(),
    p: onPause,
    z: () => notice.get()?.undo?.(),
  });
  return (
    <>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <Rail count={count} onPalette={() => setPaletteOpen(true)} />
      <main id="main" tabIndex={-1}>
        {liveness.kind === 'off' && (
          <p className="banner off" role="status">
            The {IS_TEAM ? 'server' : 'console'} does not answer. You see what it showed last; the page goes on by
            itself when {IS_TEAM ? 'it answers' : '"workrail console" runs'} again.
          </p>
        )}
        <Outlet />
      </main>
      <StatusBar liveness={liveness} onPause={onPause} onKeys={() => setSheetOpen(true)} />
      <Notice />
      {isSheetOpen && (
        <Dialog title="Keys" className="sheet" onClose={closeSheet}>
          <dl className="keys">
            {KEYS.filter(({ keys }) => !(IS_TEAM && OF_MACHINE.includes(keys))).map((key) => (
              <div key={key.keys}>
                <dt>
                  <kbd>{'shown' in key ? key.shown : key.keys}</kbd>
                </dt>
                <dd>{key.does}</dd>
              </div>
            ))}
          </dl>
          <Button label="Close" onClick={closeSheet} />
        </Dialog>
      )}
      <Suspense>
        {isPaletteOpen && <Palette onClose={() => setPaletteOpen(false)} />}
        <Dialogs />
      </Suspense>
    </>
  );
}

/** Keys of pages about one machine. */
const OF_MACHINE: readonly string[] = ['g l', 'g b', 'g ,', 'Ctrl s', 'Ctrl .'];

/** The parts that are loaded when somebody brings a session in or takes one out. */
function Dialogs() {
  const file = offeredFile.use();
  const sessions = exported.use();
  if (file !== undefined) return <ImportDialog key={file.name} file={file} />;
  return sessions.length === 0 ? null : <ExportDialog sessions={sessions} />;
}

function Rail({ count, onPalette }: { readonly count: number; readonly onPalette: () => void }) {
  const isAtSettings = useLocation({ select: ({ pathname }) => /\/(?:settings|team)\/[a-z]+$/.test(pathname) });
  return (
    <nav className="rail" aria-label="Pages">
      <p className="brand">WorkRail</p>
      <Link to="/" activeOptions={{ exact: true, includeSearch: false }}>
        Sessions
      </Link>
      <Link to="/waiting">
        <span>
          Waiting<span className="wide-only"> for you</span>
        </span>
        {count > 0 && <span className="count">{count}</span>}
      </Link>
      {!IS_TEAM && <Link to="/workflows">Workflows</Link>}
      {!IS_TEAM && <Link to="/builtins">Built-ins</Link>}
      <Link to="/search">Search</Link>
      <Link to="/open">
        <span>
          Open<span className="wide-only"> a file</span>
        </span>
      </Link>
      {IS_TEAM ? (
        <Link to="/team/$page" params={{ page: 'members' }} className={isAtSettings ? 'active' : ''}>
          Team
        </Link>
      ) : (
        <Link to="/settings/$page" params={{ page: 'preferences' }} className={isAtSettings ? 'active' : ''}>
          Settings
        </Link>
      )}
      <button type="button" className="quiet wide-only" onClick={onPalette}>
        Go to … <kbd>Ctrl k</kbd>
      </button>
    </nav>
  );
}

type Bar = { readonly liveness: Liveness; readonly onPause: () => void; readonly onKeys: () => void };

/** What is served here, and to whom. */
export function useAbout() {
  return useQuery({ queryKey: ['about'], queryFn: () => read('about'), staleTime: Infinity }).data;
}

function StatusBar({ liveness, onPause, onKeys }: Bar) {
  const about = useAbout();
  useEffect(() => called.set(about?.command ?? 'workrail'), [about]);
  return (
    <footer>
      <span className={`connection ${liveness.kind}`} role="status">
        {livenessWords(liveness)}
      </span>
      <Button
        label={liveness.kind === 'paused' ? 'Go on' : 'Pause'}
        className="quiet"
        aria-pressed={liveness.kind === 'paused'}
        onClick={onPause}
      />
      <span className="meta path">{about?.team === undefined ? about?.dataDir : whoWords(about.team)}</span>
      {IS_TEAM && <Button label="Sign out" className="quiet wide-only" onClick={() => void leave()} />}
      <span className="meta wide-only">{about === undefined ? '' : `workrail ${about.version}`}</span>
      <LookChoice name="density" label="Rows" />
      <LookChoice name="theme" label="Theme" />
      <Button label="Keys" className="quiet" onClick={onKeys} />
    </footer>
  );
}

function whoWords({ space, name, principal, role }: NonNullable<ConsoleReply<'about'>['team']>): string {
  return `${space} · ${name ?? principal}, ${role}`;
}

export async function leave(): Promise<void> {
  await write('signOut', {}, {});
  signOut();
  location.reload();
}

function livenessWords(liveness: Liveness): string {
  if (liveness.kind !== 'paused') return liveness.kind === 'live' ? 'live' : 'server off';
  return liveness.missed === 0 ? 'paused' : `paused, ${plural(liveness.missed, 'change')}`;
}

const UNDO = (
  <>
    Undo <kbd>z</kbd>
  </>
);

/** What was just done. It can be undone as long as it is shown. */
function Notice() {
  const shown = notice.use();
  return (
    <div className="notice" role="status">
      {shown && (
        <p>
          {shown.words}
          {shown.undo && <Button label={UNDO} onClick={shown.undo} />}
          <Button label="×" className="quiet" aria-label="Put this away" onClick={() => notice.set(undefined)} />
        </p>
      )}
    </div>
  );
}

async function copyAddress(): Promise<void> {
  await navigator.clipboard.writeText(location.href);
  notice.set({ words: 'The address of this view was copied.' });
}

/** How many sessions wait: in the title, and by the system if the user asked for that. */
function useWaitingCount(): number {
  // What waits is only fetched by the page that shows it: the time of an answer counts from there.
  const { data: listed } = useQuery({ queryKey: ['waiting-count'], queryFn: () => read('sessions', {}, { limit: 1 }) });
  const count = listed?.waiting;
  const before = useRef(count);
  const isWanted = useChosen('notify') === 'on';
  useEffect(() => {
    document.title = count === undefined || count === 0 ? 'WorkRail' : `(${count}) WorkRail`;
    const isMore = before.current !== undefined && count !== undefined && count > before.current;
    before.current = count;
    if (!isMore || !isWanted || document.hasFocus() || Notification.permission !== 'granted') return;
    new Notification('WorkRail is waiting for you', { body: plural(count, 'session'), tag: 'workrail' });
  }, [count, isWanted]);
  return count ?? 0;
}

/** A file that is dropped anywhere is offered for import; it never replaces the page. */
function useFileDrop(): void {
  useEffect(() => {
    const onDrag = (event: DragEvent) => {
      if (event.dataTransfer?.types.includes('Files') === true) event.preventDefault();
    };
    const onDrop = (event: DragEvent) => {
      const [file] = event.dataTransfer?.files ?? [];
      if (file === undefined || event.defaultPrevented) return;
      event.preventDefault();
      if (!IS_TEAM) offeredFile.set(file);
    };
    addEventListener('dragover', onDrag);
    addEventListener('drop', onDrop);
    return () => {
      removeEventListener('dragover', onDrag);
      removeEventListener('drop', onDrop);
    };
  }, []);
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
