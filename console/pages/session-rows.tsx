import { useNavigate } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useMemo, useRef, useState } from 'react';
import type { BoardGroup } from '../../src/core/sessions/session-state.ts';
import { plural } from '../../src/core/text/words.ts';
import type { ConsoleReply } from '../../src/core/wire/console-shapes.ts';
import { useKeys } from '../parts/keys.tsx';
import { Button } from '../parts/panels.tsx';
import { useNow } from '../parts/shell.tsx';
import { type MarkName, StateMark, stateWord } from '../parts/state-mark.tsx';
import { ago, wholeTime } from '../parts/times.ts';
import { useChosen } from '../state/looks.ts';
import { compared } from '../state/told.ts';
import { BulkBar } from './bulk-bar.tsx';

type Row = ConsoleReply<'sessions'>['rows'][number];
type Group = ConsoleReply<'sessions'>['groups'][number];

const ROW_PX = { comfortable: 40, compact: 28 };
const GROUP_PX = 32;

type RowList = {
  readonly rows: readonly Row[];
  readonly groups: readonly Group[];
  readonly grouping: BoardGroup | undefined;
  readonly total: number;
  /** What was asked for. Another question is shown at once. */
  readonly view: string;
  readonly onEnd: () => void;
};

export function SessionRows({ rows: latest, groups, grouping, total, view, onEnd }: RowList) {
  const box = useRef<HTMLDivElement>(null);
  const isOver = useRef(false);
  const { rows, gone, fresh, release } = useHeldRows(latest, view, () => isOver.current || !isAtTop(box.current));
  const density = useChosen('density');
  const items = useMemo(() => withGroups(rows, groups), [rows, groups]);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => box.current,
    estimateSize: (i) => (items[i]?.kind === 'group' ? GROUP_PX : ROW_PX[density]),
    getItemKey: (i) => items[i]?.key ?? i,
    overscan: 12,
    initialRect: { width: 0, height: 600 },
  });
  const shown = virtual.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= items.length - 1) onEnd();
  }, [last, items.length, onEnd]);
  const { current, setCurrent, selected, select, clear, open } = useRowKeys(rows, (row) =>
    virtual.scrollToIndex(items.findIndex((item) => item.kind === 'row' && item.row === row)),
  );
  const now = useNow();
  const chosen = selected.size === 0 ? [] : rows.filter(({ sessionId }) => selected.has(sessionId));
  // A row is drawn again when something about it changes, and not because the list was scrolled.
  const acts = useRef({ open, setCurrent, select });
  acts.current = { open, setCurrent, select };
  const toTop = () => box.current?.scrollTo(0, 0);
  const hover = (isNow: boolean) => {
    isOver.current = isNow;
    if (!isNow && isAtTop(box.current)) release();
  };
  return (
    <div className="list-frame">
      {fresh > 0 && <Button label={`${fresh} new`} className="fresh" onClick={() => release(toTop)} />}
      <div
        ref={box}
        className="list"
        role="grid"
        aria-label="Sessions"
        aria-rowcount={total}
        aria-multiselectable="true"
        tabIndex={0}
        onPointerEnter={() => hover(true)}
        onPointerLeave={() => hover(false)}
      >
        <div role="presentation" style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {shown.map(({ index, start, key }) => {
            const item = items[index];
            if (item === undefined) return null;
            if (item.kind === 'group') {
              return <GroupRow key={key} group={item.group} grouping={grouping} start={start} />;
            }
            const { row, at } = item;
            return (
              <SessionRow
                key={key}
                row={row}
                at={at}
                start={start}
                now={now}
                isCurrent={at === current}
                isSelected={selected.has(row.sessionId)}
                isGone={gone.has(row.sessionId)}
                acts={acts}
              />
            );
          })}
        </div>
      </div>
      {chosen.length > 0 ? <BulkBar rows={chosen} onClear={clear} /> : null}
    </div>
  );
}

/** The row that the keys are about, and those that were selected. */
function useRowKeys(rows: readonly Row[], show: (row: Row) => void) {
  const navigate = useNavigate();
  const [currentId, setCurrent] = useState<string | undefined>(undefined);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const anchor = useRef(0);
  const found = rows.findIndex(({ sessionId }) => sessionId === currentId);
  const current = Math.max(0, found);
  const open = (row: Row | undefined) =>
    row && void navigate({ to: '/sessions/$session', params: { session: row.sessionId }, search: {} });
  const move = (by: number) => {
    const next = rows[Math.min(rows.length - 1, Math.max(0, current + by))];
    setCurrent(next?.sessionId);
    if (next !== undefined) show(next);
  };
  const select = (at: number, isRange: boolean) => {
    const [from, to] = isRange ? [Math.min(anchor.current, at), Math.max(anchor.current, at)] : [at, at];
    const ids: readonly string[] = rows.slice(from, to + 1).map(({ sessionId }) => sessionId);
    const isAll = !isRange && ids.every((id) => selected.has(id));
    anchor.current = at;
    setSelected(new Set(isAll ? [...selected].filter((id) => !ids.includes(id)) : [...selected, ...ids]));
  };
  const openCurrent = () => open(rows[current]);
  const selectRange = () => select(current, true);
  const compare = () =>
    rows[current] && markForComparing(rows[current], (search) => void navigate({ to: '/compare', search }));
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    x: () => select(current, false),
    d: compare,
    ...{ Enter: openCurrent, X: selectRange },
  });
  return { current, setCurrent, selected, select, clear: () => setSelected(new Set()), open };
}

type GroupParts = { readonly group: Group; readonly grouping: BoardGroup | undefined; readonly start: number };

function GroupRow({ group, grouping, start }: GroupParts) {
  return (
    <div role="row" className="group-row" style={{ transform: `translateY(${start}px)` }}>
      <span role="gridcell">
        {groupWords(group.name, grouping)} <span className="meta">{group.total}</span>
      </span>
    </div>
  );
}

type RowParts = {
  readonly row: Row;
  readonly at: number;
  readonly start: number;
  readonly now: number;
  readonly isCurrent: boolean;
  readonly isSelected: boolean;
  readonly isGone: boolean;
  readonly acts: React.RefObject<Pick<ReturnType<typeof useRowKeys>, 'open' | 'setCurrent' | 'select'>>;
};

const SessionRow = memo(({ row, at, start, now, isCurrent, isSelected, isGone, acts }: RowParts) => {
  return (
    <div
      role="row"
      aria-rowindex={at + 1}
      aria-selected={isSelected}
      className={`row${isCurrent ? ' current' : ''}${isGone ? ' gone' : ''}`}
      style={{ transform: `translateY(${start}px)` }}
      onClick={() => acts.current.open(row)}
      onPointerEnter={() => acts.current.setCurrent(row.sessionId)}
    >
      <span role="gridcell" className="cell-pick">
        <input
          type="checkbox"
          aria-label={`Select ${row.title ?? row.shortId}`}
          checked={isSelected}
          tabIndex={-1}
          onClick={(event) => {
            event.stopPropagation();
            acts.current.select(at, event.shiftKey);
          }}
          onChange={() => undefined}
        />
      </span>
      <Cells row={row} now={now} isGone={isGone} />
    </div>
  );
});

function isAtTop(box: HTMLElement | null): boolean {
  return (box?.scrollTop ?? 0) === 0;
}

function markForComparing(row: Row, open: (search: { readonly a: string; readonly b: string }) => void): void {
  const first = compared.get();
  if (first === undefined || first.session === row.sessionId) {
    compared.set({ session: row.sessionId, words: row.title ?? row.shortId });
    return;
  }
  compared.set(undefined);
  open({ a: first.session, b: row.sessionId });
}

type Held = {
  readonly rows: readonly Row[];
  /** Rows that are no longer in the list and keep their place until it may move. */
  readonly gone: ReadonlySet<string>;
  /** How many rows wait to be shown. */
  readonly fresh: number;
};

/**
 * The rows in the order in which they were shown first, with what they say now. Nothing moves under the pointer or while
 * somebody reads further down: new rows wait.
 */
function useHeldRows(latest: readonly Row[], view: string, isHeld: () => boolean) {
  const kept = useRef({ view, latest, held: held(latest, latest) });
  const [, renew] = useState(0);
  const isFree = kept.current.view !== view || !isHeld();
  const isSame = kept.current.latest === latest && (!isFree || kept.current.held.rows === latest);
  if (!isSame)
    kept.current = { view, latest, held: isFree ? held(latest, latest) : held(kept.current.held.rows, latest) };
  const release = (then = () => {}) => {
    kept.current = { view: '', latest: [], held: held([], []) };
    renew((count) => count + 1);
    then();
  };
  return { ...kept.current.held, release };
}

function held(shown: readonly Row[], latest: readonly Row[]): Held {
  if (shown === latest) return { rows: latest, gone: new Set(), fresh: 0 };
  const byId = new Map(latest.map((row) => [row.sessionId, row]));
  const known = new Set(shown.map(({ sessionId }) => sessionId));
  const end = latest.findLastIndex(({ sessionId }) => known.has(sessionId));
  // What comes after the last known row was read because somebody scrolled there.
  const rows = [...shown.map((row) => byId.get(row.sessionId) ?? row), ...latest.slice(end + 1)];
  return {
    rows,
    gone: new Set([...known].filter((sessionId) => !byId.has(sessionId))),
    fresh: latest.slice(0, end + 1).filter(({ sessionId }) => !known.has(sessionId)).length,
  };
}

type Item =
  | { readonly kind: 'group'; readonly key: string; readonly group: Group }
  | { readonly kind: 'row'; readonly key: string; readonly row: Row; readonly at: number };

/** The rows come group by group, so their sizes say where each begins. */
function withGroups(rows: readonly Row[], groups: readonly Group[]): readonly Item[] {
  let next = 0;
  const starts = new Map<number, Group>();
  for (const group of groups) {
    starts.set(next, group);
    next += group.total;
  }
  return rows.flatMap((row, at): readonly Item[] => {
    const group = starts.get(at);
    const item: Item = { kind: 'row', key: row.sessionId, row, at };
    return group === undefined ? [item] : [{ kind: 'group', key: `group ${group.name}`, group }, item];
  });
}

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' });

function groupWords(name: string, grouping: BoardGroup | undefined): string {
  if (name === '') return grouping === 'day' ? 'no time' : `no ${grouping ?? 'name'}`;
  if (grouping !== 'day') return name;
  return DAY.format(new Date(`${name}T12:00:00`));
}

function Cells({ row, now, isGone }: { readonly row: Row; readonly now: number; readonly isGone: boolean }) {
  const { state, title, runs, workspace, branch, lastAt, note } = row;
  const folder = workspace?.split(/[\\/]/).filter(Boolean).at(-1);
  const more = runs.length > 1 ? ` +${runs.length - 1}` : '';
  const isWaiting = row.waitsForPerson && state === 'blocked';
  return (
    <>
      <span role="gridcell" className="cell-state">
        {isWaiting ? <StateMark name="waiting" /> : <StateMark name={markOfRow(row)} words={stateWords(row)} />}
      </span>
      <span role="rowheader" className="cell-goal">
        <span className="goal">{title ?? 'cannot be read'}</span>
        {note === undefined ? null : <span className="row-note">{note}</span>}
      </span>
      <span role="gridcell" className="cell-flow">
        {runs[0]?.workflowId ?? ''}
        {more}
      </span>
      <span role="gridcell" className="cell-step">
        {isGone ? (
          'no longer here'
        ) : state === 'damaged' || state === 'salvaged' ? (
          <code>workrail session verify {row.shortId}</code>
        ) : (
          <Step row={row} />
        )}
      </span>
      <span role="gridcell" className="cell-place" title={workspace}>
        {[row.owner, folder, branch, ...flagsOf(row)].filter(Boolean).join(' · ')}
      </span>
      <span role="gridcell" className="cell-age" title={lastAt === undefined ? undefined : wholeTime(lastAt)}>
        {lastAt === undefined ? '' : ago(lastAt, now)}
      </span>
    </>
  );
}

const CELLS_MAX = 12;

/** The step that is due, and a cell for each step of the way. */
function Step({ row: { state, step, attempts } }: { readonly row: Row }) {
  if (step === undefined || state === 'complete') return null;
  const { index, of } = step;
  const words = index === undefined ? '' : `step ${index}${of === undefined ? '' : ` of ${of}`} `;
  const cells =
    index === undefined || of === undefined || of > CELLS_MAX ? [] : Array.from({ length: of }, (_, i) => i);
  return (
    <>
      {cells.length === 0 ? null : (
        <span className="strip" aria-hidden="true">
          {cells.map((i) => (
            <i key={i} className={i + 1 < (index ?? 0) ? 'done' : i + 1 === index ? 'now' : ''} />
          ))}
        </span>
      )}
      {words}"{step.title}"{attempts > 1 ? `, tried ${attempts} times` : ''}
    </>
  );
}

function stateWords(row: Row): string {
  const word = stateWord(markOfRow(row));
  return row.state === 'complete' && row.openGaps > 0 ? `${word}, ${plural(row.openGaps, 'follow-up')}` : word;
}

/** A session in which a run was finished without something that was required does not look complete. */
export function markOfRow({ state, runs }: Pick<Row, 'state' | 'runs'>): MarkName {
  const isLacking = runs.some(({ status, isClosed }) => status === 'complete_with_gaps' && !isClosed);
  return state === 'complete' && isLacking ? 'lacking' : state;
}

function flagsOf({ branches, origin, isKept }: Row): readonly string[] {
  return [branches > 1 ? `${branches} branches` : '', origin === undefined ? '' : 'imported', isKept ? 'kept' : ''];
}
