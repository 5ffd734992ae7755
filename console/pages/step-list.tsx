import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useId, useMemo, useRef } from 'react';
import type { LaneRow, Lanes } from '../../src/core/sessions/lanes.ts';
import { plural } from '../../src/core/text/words.ts';
import type { StepBadge } from '../../src/core/wire/run-shapes.ts';
import { Mark, type MarkName, toned } from '../parts/state-mark.tsx';
import { clock, length } from '../parts/times.ts';
import { Gutter, gutterWidth, laneX, MiniMap, ROW_PX } from './lane-gutter.tsx';

type RowActs = { readonly onChoose: (row: LaneRow) => void; readonly onFold: (row: LaneRow) => void };

type Parts = RowActs & {
  readonly lanes: Lanes;
  readonly chosen: LaneRow | undefined;
  readonly isFollowing: boolean;
  readonly onMove: (by: number) => void;
  readonly onMoveTo: (index: number) => void;
};

/** The steps of a run as a tree. Only the rows that can be seen are in the page. */
export function StepList({ lanes, chosen, isFollowing, onChoose, onFold, onMove, onMoveTo }: Parts) {
  const { rows, count } = lanes;
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 8,
    initialRect: { width: 0, height: 20 * ROW_PX },
  });
  const index = chosen === undefined ? -1 : rows.indexOf(chosen);
  const key = chosen?.key;
  // Rows that come above move the chosen one. Only a new choice, or following, may scroll.
  const latest = useRef(index);
  latest.current = index;
  const followed = isFollowing ? index : -1;
  useEffect(() => {
    if (followed >= 0 || key !== undefined) virtual.scrollToIndex(Math.max(0, latest.current), { align: 'auto' });
  }, [key, followed, virtual]);
  const acts = new Map([
    ['ArrowDown', () => onMove(1)],
    ['ArrowUp', () => onMove(-1)],
    ['Home', () => onMoveTo(0)],
    ['End', () => onMoveTo(rows.length - 1)],
    ['ArrowRight', () => (chosen?.isOpen === false ? onFold(chosen) : onMove(1))],
    ['ArrowLeft', () => (chosen?.isOpen === true ? onFold(chosen) : onMoveTo(parentOf(rows, index)))],
    ['Enter', () => chosen && onFold(chosen)],
  ]);
  const onKeyDown = (event: React.KeyboardEvent) => {
    const act = acts.get(event.key);
    if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  };
  const places = useMemo(() => siblingPlaces(rows), [rows]);
  return (
    <div className="step-frame">
      <Gutter lanes={lanes} scroller={scroller} />
      <div
        ref={scroller}
        className="step-scroll"
        role="treegrid"
        aria-label="Steps of the run"
        aria-rowcount={rows.length}
        aria-activedescendant={index < 0 ? undefined : `${id}-${index}`}
        tabIndex={0}
        onKeyDown={onKeyDown}
      >
        <div role="rowgroup" style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            if (row === undefined) return null;
            return (
              <StepRow
                key={item.key}
                id={`${id}-${item.index}`}
                row={row}
                index={item.index}
                place={places[item.index] ?? ONLY}
                lanes={count}
                isChosen={item.index === index}
                isCurrent={row.lane === 0}
                onChoose={onChoose}
                onFold={onFold}
              />
            );
          })}
        </div>
      </div>
      <MiniMap lanes={lanes} scroller={scroller} />
    </div>
  );
}

function parentOf(rows: readonly LaneRow[], index: number): number {
  const level = rows[index]?.level ?? 1;
  for (let at = index - 1; at >= 0; at--) if ((rows[at]?.level ?? 1) < level) return at;
  return index;
}

/** Which row of its group it is. The group is complete when all rows are known. */
type Place = { readonly at: number; readonly group: { readonly count: number } };
const ONLY: Place = { at: 1, group: { count: 1 } };

/** Rows of the same level under the same row are a group. */
function siblingPlaces(rows: readonly LaneRow[]): readonly Place[] {
  const groups: { count: number }[] = [];
  return rows.map(({ level }) => {
    groups.length = Math.min(groups.length, level);
    const group = groups[level - 1] ?? { count: 0 };
    groups[level - 1] = group;
    group.count += 1;
    return { at: group.count, group };
  });
}

type RowParts = RowActs & {
  readonly id: string;
  readonly row: LaneRow;
  readonly index: number;
  readonly place: Place;
  readonly lanes: number;
  readonly isChosen: boolean;
  /** Whether work goes on at this row. */
  readonly isCurrent: boolean;
};

const StepRow = memo(
  ({ id, row, index, place, lanes, isChosen, isCurrent, onChoose, onFold }: RowParts) => (
    <div
      id={id}
      role="row"
      aria-rowindex={index + 1}
      aria-level={row.level}
      aria-posinset={place.at}
      aria-setsize={place.group.count}
      aria-selected={isChosen}
      aria-expanded={row.isOpen}
      className={`step ${row.kind}`}
      style={{ top: index * ROW_PX, paddingLeft: gutterWidth(lanes) + indentOf(row) }}
      onClick={({ target }) =>
        row.kind === 'branch' || row.kind === 'round' ? onFold(row) : onChoose(attemptAt(row, target))
      }
    >
      <StepCells row={row} onFold={onFold} isCurrent={isCurrent} />
    </div>
  ),
  (before, after) =>
    before.row === after.row &&
    before.index === after.index &&
    before.isChosen === after.isChosen &&
    before.lanes === after.lanes &&
    before.place.group.count === after.place.group.count,
);

/** How often a step was blocked leads to the last of these attempts, and so to the reason. */
function attemptAt(row: LaneRow, target: EventTarget): LaneRow {
  const isTried = target instanceof Element && target.textContent?.startsWith(TRIED) && target.matches('.badge');
  const tried = row.kind === 'step' && isTried ? row.step.hung : undefined;
  const nodeId = tried?.findLast(({ kind }) => kind === 'blocked_attempt')?.nodeId;
  return nodeId === undefined ? row : { ...row, nodeId };
}

/** Rows inside of a round, and attempts at a step, stand further in. */
function indentOf({ kind, level, lane }: LaneRow): number {
  return kind === 'branch' ? 0 : Math.max(0, level - 1 - 2 * lane) * 16;
}

type CellParts = Pick<RowParts, 'row' | 'onFold' | 'isCurrent'>;

function StepCells({ row, onFold, isCurrent }: CellParts) {
  const { name, number, meta, badges = [], time } = cellsOf(row, isCurrent);
  const words = rowTitle(row);
  return (
    <>
      <span role="gridcell" className="step-mark" style={{ left: laneX(row.lane) + (row.kind === 'hung' ? 14 : 0) }}>
        <Mark name={name} />
      </span>
      <span role="rowheader" className="step-title">
        {row.isOpen === undefined ? (
          <span className="twist" />
        ) : (
          <button
            type="button"
            className="twist"
            tabIndex={-1}
            aria-label={row.isOpen ? 'Fold' : 'Open'}
            onClick={(event) => {
              event.stopPropagation();
              onFold(row);
            }}
          >
            <svg viewBox="0 0 16 16" width="10" height="10" aria-hidden="true">
              <path
                d={row.isOpen ? 'm3 5 5 6 5-6' : 'm5 3 6 5-6 5'}
                fill="none"
                stroke="currentColor"
                strokeWidth="2"
              />
            </svg>
          </button>
        )}
        {number !== undefined && <span className="step-number">{number}</span>}
        <span className="step-words" title={words}>
          {words}
        </span>
        {meta && <span className="meta step-more">{meta}</span>}
      </span>
      <span role="gridcell" className="badges">
        {badges.map(([badge, tone]) => (
          <span
            key={badge}
            className={`badge ${tone ?? ''}`}
            style={tone && toned(tone)}
            title={badge.startsWith(TRIED) ? TRIED_HINT : undefined}
          >
            {badge}
          </span>
        ))}
      </span>
      <span role="gridcell" className="meta time">
        {time}
      </span>
    </>
  );
}

type Cells = {
  readonly name: MarkName;
  readonly number?: number | undefined;
  readonly meta?: string | undefined;
  readonly badges?: readonly Badge[];
  readonly time?: string | undefined;
};

const TRIED = '▲';
const TRIED_HINT = 'Attempts that were blocked: click to read why';

const STATE_MARKS = { done: 'complete', due: 'running', blocked: 'blocked', complete: 'complete' } as const;

type Badge = readonly [words: string, tone?: MarkName];

const BADGES: { readonly [badge in StepBadge]: Badge } = {
  departed: ['departed', 'blocked'],
  mode: ['mode'],
  capability: ['capability', 'blocked'],
  answered: ['answered', 'waiting'],
  proven: ['checked', 'complete'],
  unproven: ['not proven', 'blocked'],
  again: ['done again'],
};

/** What a row is called. */
export function rowTitle(row: LaneRow): string {
  if (row.kind === 'step') return row.step.title;
  if (row.kind === 'hung') return row.hung.kind === 'checkpoint' ? 'Checkpoint' : `Attempt ${row.nth}`;
  if (row.kind === 'skipped') return row.skipped.title;
  if (row.kind === 'branch') return row.line === 'main' ? 'Main branch' : `Branch ${row.line}`;
  return row.kind === 'round' ? `${row.title}, round ${row.round}` : row.title;
}

function cellsOf(row: LaneRow, isCurrent: boolean): Cells {
  switch (row.kind) {
    case 'step':
      return stepCells(row, isCurrent);
    case 'hung': {
      const { kind, at, codes = [] } = row.hung;
      const isBlocked = kind === 'blocked_attempt';
      return {
        name: isBlocked ? 'blocked' : 'checkpoint',
        meta: isBlocked ? codes.join(', ').toLowerCase().replaceAll('_', ' ') : undefined,
        time: at === undefined ? undefined : clock(at),
      };
    }
    case 'skipped':
      return { name: 'skipped', meta: row.skipped.why ?? 'skipped' };
    case 'round': {
      const meta = row.isOpen ? undefined : plural(row.steps, 'step');
      return { name: 'round', meta, time: row.tookMs > 0 ? length(row.tookMs) : undefined };
    }
    case 'branch': {
      const left = row.leftAt === undefined ? '' : `, left ${clock(row.leftAt)}`;
      return { name: 'branch', meta: `${plural(row.steps, 'step')}${left}` };
    }
    case 'plan':
      return { name: 'skipped', meta: 'may come' };
  }
}

function stepCells({ step, endedAt, idleMs, line }: Extract<LaneRow, { kind: 'step' }>, isCurrent: boolean): Cells {
  const { state, startedAt, hung = [], badges = [], openGaps = 0, rounds = [] } = step;
  const blocked = hung.filter(({ kind }) => kind === 'blocked_attempt').length;
  const saved = hung.length - blocked;
  const took = startedAt === undefined || endedAt === undefined ? '' : ` · ${length(endedAt - startedAt)}`;
  const waits = state === 'blocked' && hung.at(-1)?.codes?.every((code) => code === 'USER_ONLY_DEPENDENCY');
  const inner = rounds.slice(1).map(({ round }) => `round ${round}`);
  return {
    name: waits ? 'waiting' : state === 'due' && !isCurrent ? 'closed' : STATE_MARKS[state],
    number: state === 'complete' ? undefined : step.number,
    meta: [...inner, ...(state === 'due' ? [isCurrent ? 'now' : 'stopped here'] : [])].join(' · ') || undefined,
    badges: [
      ...(blocked === 0 ? [] : [[`${TRIED} × ${blocked}`, 'blocked'] as const]),
      ...(saved === 0 ? [] : [[plural(saved, 'checkpoint')] as const]),
      ...badges.map((badge) => BADGES[badge]),
      ...(openGaps === 0 ? [] : [[plural(openGaps, 'follow-up'), 'blocked'] as const]),
      ...(idleMs === 0 ? [] : [[`paused ${length(idleMs)}`] as const]),
      ...(line === 'main' ? [] : [[line, 'branch'] as const]),
    ],
    time: startedAt === undefined ? undefined : `${clock(startedAt)}${took}`,
  };
}
