import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import { SESSION_STATES, type SessionState } from '../../src/core/sessions/session-state.ts';
import { plural } from '../../src/core/text/words.ts';
import type { ConsoleReply } from '../../src/core/wire/console-shapes.ts';
import { useKeys } from '../parts/keys.tsx';
import { CommandHint, ErrorPanel } from '../parts/panels.tsx';
import { useNow } from '../parts/shell.tsx';
import { StateMark, stateWord } from '../parts/state-mark.tsx';
import { ago, wholeTime } from '../parts/times.ts';
import { read } from '../state/api.ts';
import type { SessionsSearch } from '../state/search.ts';

type Row = ConsoleReply<'sessions'>['rows'][number];

const ROW_PX = 40;
const WINDOW = 100;
const TYPING_MS = 120;

export function Sessions() {
  const { q, state } = useSearch({ from: '/' });
  const navigate = useNavigate({ from: '/' });
  const listed = useInfiniteQuery({
    queryKey: ['sessions', q, state],
    queryFn: ({ pageParam }) => read('sessions', {}, { q, state, offset: pageParam, limit: WINDOW }),
    initialPageParam: 0,
    getNextPageParam: ({ total }, pages) => {
      const seen = pages.reduce((sum, { rows }) => sum + rows.length, 0);
      return seen < total ? seen : undefined;
    },
    placeholderData: keepPreviousData,
  });
  if (listed.error !== null && listed.data === undefined) return <ErrorPanel error={listed.error} />;
  const first = listed.data?.pages[0];
  if (first === undefined) return <p className="meta">Reading the sessions …</p>;
  if (first.stored === 0) return <NoSessions />;
  const rows = listed.data?.pages.flatMap((page) => page.rows) ?? [];
  const choose = (next: SessionsSearch) => void navigate({ search: next, replace: true });
  return (
    <>
      <header className="page-head">
        <h1>Sessions</h1>
        <Search
          q={q ?? ''}
          onSearch={(words) => choose({ ...(words === '' ? {} : { q: words }), ...(state && { state }) })}
        />
      </header>
      <StateChips
        counts={first.counts}
        chosen={state}
        onChoose={(next) => choose({ ...(q === undefined ? {} : { q }), ...(next && { state: next }) })}
      />
      {rows.length === 0 ? (
        <p className="panel">None of {plural(first.stored, 'session')} matches.</p>
      ) : (
        <Rows
          rows={rows}
          total={first.total}
          onEnd={() => void (listed.hasNextPage && !listed.isFetchingNextPage && listed.fetchNextPage())}
        />
      )}
      <CommandHint command="workrail session list" />
    </>
  );
}

function Search({ q, onSearch }: { readonly q: string; readonly onSearch: (words: string) => void }) {
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(q);
  useEffect(() => setTyped(q), [q]);
  useEffect(() => {
    if (typed.trim() === q) return undefined;
    const timer = setTimeout(() => onSearch(typed.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  });
  useKeys({ '/': () => field.current?.focus() });
  return (
    <input
      ref={field}
      type="search"
      placeholder="Find by words, or state:blocked wf:coding repo:api after:2d"
      aria-label="Find sessions"
      value={typed}
      onChange={({ target }) => setTyped(target.value)}
      onKeyDown={({ key }) => key === 'Escape' && field.current?.blur()}
    />
  );
}

type Chips = {
  readonly counts: ConsoleReply<'sessions'>['counts'];
  readonly chosen: SessionState | undefined;
  readonly onChoose: (state: SessionState | undefined) => void;
};

function StateChips({ counts, chosen, onChoose }: Chips) {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const shown = SESSION_STATES.filter((state) => (counts[state] ?? 0) > 0 || state === chosen);
  return (
    <div className="chips" role="group" aria-label="State">
      <button type="button" aria-pressed={chosen === undefined} onClick={() => onChoose(undefined)}>
        all <span className="meta">{all}</span>
      </button>
      {shown.map((state) => (
        <button key={state} type="button" aria-pressed={chosen === state} onClick={() => onChoose(state)}>
          <StateMark name={state} /> <span className="meta">{counts[state] ?? 0}</span>
        </button>
      ))}
    </div>
  );
}

type RowList = { readonly rows: readonly Row[]; readonly total: number; readonly onEnd: () => void };

function Rows({ rows, total, onEnd }: RowList) {
  const box = useRef<HTMLDivElement>(null);
  const navigate = useNavigate();
  const now = useNow();
  const [current, setCurrent] = useState(0);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  });
  const shown = virtual.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= rows.length - 1) onEnd();
  }, [last, rows.length, onEnd]);
  const open = (row: Row | undefined) =>
    row && void navigate({ to: '/sessions/$session', params: { session: row.sessionId }, search: {} });
  const move = (by: number) => {
    const next = Math.min(rows.length - 1, Math.max(0, current + by));
    setCurrent(next);
    virtual.scrollToIndex(next);
  };
  const openCurrent = () => open(rows[current]);
  useKeys({ j: () => move(1), k: () => move(-1), Enter: openCurrent });
  return (
    <div ref={box} className="list" role="grid" aria-label="Sessions" aria-rowcount={total} tabIndex={0}>
      <div role="presentation" style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {shown.map(({ index, start }) => {
          const row = rows[index];
          if (row === undefined) return null;
          return (
            <div
              key={row.sessionId}
              role="row"
              aria-rowindex={index + 1}
              aria-selected={index === current}
              className="row"
              style={{ transform: `translateY(${start}px)` }}
              onClick={() => open(row)}
              onPointerEnter={() => setCurrent(index)}
            >
              <Cells row={row} now={now} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

function Cells({ row, now }: { readonly row: Row; readonly now: number }) {
  const { state, title, runs, workspace, branch, lastAt, note } = row;
  const folder = workspace?.split(/[\\/]/).filter(Boolean).at(-1);
  const more = runs.length > 1 ? ` +${runs.length - 1}` : '';
  const isWaiting = row.waitsForPerson && state === 'blocked';
  return (
    <>
      <span role="gridcell" className="cell-state">
        {isWaiting ? <StateMark name="waiting" /> : <StateMark name={state} words={stateWords(row)} />}
      </span>
      <span role="rowheader" className="cell-goal" title={note}>
        {title ?? 'cannot be read'}
      </span>
      <span role="gridcell" className="cell-flow">
        {runs[0]?.workflowId ?? ''}
        {more}
      </span>
      <span role="gridcell" className="cell-step">
        {stepWords(row)}
      </span>
      <span role="gridcell" className="cell-place">
        {[folder, branch, ...flagsOf(row)].filter(Boolean).join(' · ')}
      </span>
      <span role="gridcell" className="cell-age" title={lastAt === undefined ? undefined : wholeTime(lastAt)}>
        {lastAt === undefined ? '' : ago(lastAt, now)}
      </span>
    </>
  );
}

function stateWords({ state, openGaps }: Row): string {
  return state === 'complete' && openGaps > 0 ? `done, ${plural(openGaps, 'follow-up')}` : stateWord(state);
}

function stepWords({ state, step, attempts }: Row): string {
  if (step === undefined || state === 'complete') return '';
  const of = step.of === undefined ? '' : ` of ${step.of}`;
  const number = step.index === undefined ? '' : `step ${step.index}${of} `;
  return `${number}"${step.title}"${attempts > 1 ? `, tried ${attempts} times` : ''}`;
}

function flagsOf({ branches, origin, isKept }: Row): readonly string[] {
  return [branches > 1 ? `${branches} branches` : '', origin === undefined ? '' : 'imported', isKept ? 'kept' : ''];
}

function NoSessions() {
  return (
    <section className="panel empty">
      <h1>No sessions yet</h1>
      <p>A session appears here as soon as an agent starts a workflow. To try it, tell your agent:</p>
      <blockquote>Use WorkRail to run the workflow wr.first_steps here.</blockquote>
      <p>Or watch a scripted agent:</p>
      <CommandHint command="workrail demo" />
    </section>
  );
}
