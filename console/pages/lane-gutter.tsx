import { useCallback, useEffect, useRef, useSyncExternalStore } from 'react';
import type { LaneRow, Lanes } from '../../src/core/sessions/lanes.ts';

export const ROW_PX = 28;
const LANE_PX = 16;
const MARK_PX = 9;
/** Deeper lanes share the last one. */
const LANES_DRAWN = 6;

export function laneX(lane: number): number {
  return 8 + Math.min(lane, LANES_DRAWN - 1) * LANE_PX;
}

export function gutterWidth(lanes: number): number {
  return laneX(Math.min(lanes, LANES_DRAWN) - 1) + 22;
}

type Parts = { readonly lanes: Lanes; readonly scroller: React.RefObject<HTMLDivElement | null> };

/** Draws with the pixels of the screen. Returns nothing where the canvas has no size. */
function prepared(
  canvas: HTMLCanvasElement,
): { readonly pen: CanvasRenderingContext2D; readonly height: number } | undefined {
  const { clientWidth, clientHeight } = canvas;
  const pen = canvas.getContext('2d');
  if (pen === null || clientHeight === 0) return undefined;
  const scale = devicePixelRatio;
  if (canvas.width !== clientWidth * scale || canvas.height !== clientHeight * scale) {
    canvas.width = clientWidth * scale;
    canvas.height = clientHeight * scale;
  }
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, clientWidth, clientHeight);
  return { pen, height: clientHeight };
}

const DARK = matchMedia('(prefers-color-scheme: dark)');

function themeNow(): string {
  return `${document.documentElement.dataset['theme']} ${DARK.matches}`;
}

/** What is painted does not follow the styles by itself. */
function onTheme(onChange: () => void): () => void {
  DARK.addEventListener('change', onChange);
  const attributes = new MutationObserver(onChange);
  attributes.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
  return () => {
    DARK.removeEventListener('change', onChange);
    attributes.disconnect();
  };
}

/** Draws again when the list is scrolled, changed or shown in another size or theme; otherwise never. */
function useDrawing(scroller: Parts['scroller'], draw: (canvas: HTMLCanvasElement, list: HTMLDivElement) => void) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const latest = useRef(draw);
  latest.current = draw;
  useSyncExternalStore(onTheme, themeNow, () => '');
  const again = useCallback(() => {
    if (canvas.current !== null && scroller.current !== null) latest.current(canvas.current, scroller.current);
  }, [scroller]);
  useEffect(again);
  useEffect(() => {
    const list = scroller.current;
    list?.addEventListener('scroll', again, { passive: true });
    const sizes = new ResizeObserver(again);
    if (canvas.current !== null) sizes.observe(canvas.current);
    return () => {
      list?.removeEventListener('scroll', again);
      sizes.disconnect();
    };
  }, [again, scroller]);
  return canvas;
}

/** The lines between the steps. What they show is also in the rows, so it is not read aloud. */
export function Gutter({ lanes, scroller }: Parts) {
  const canvas = useDrawing(scroller, (target, list) => {
    const ready = prepared(target);
    if (ready === undefined) return;
    const { pen, height } = ready;
    const top = list.scrollTop;
    const [first, last] = [Math.floor(top / ROW_PX) - 1, Math.ceil((top + height) / ROW_PX) + 1];
    const y = (row: number) => row * ROW_PX + ROW_PX / 2 - top;
    const x = (lane: number) => laneX(lane) + 7;
    pen.strokeStyle = getComputedStyle(target).color;
    pen.lineWidth = 1.5;
    pen.beginPath();
    for (const { from, to, fromLane, toLane } of lanes.edges) {
      if (to < first || from > last) continue;
      // The lines end before the marks of the rows.
      const [start, end] = [Math.max(y(from) + MARK_PX, -ROW_PX), Math.min(y(to) - MARK_PX, height + ROW_PX)];
      pen.moveTo(x(fromLane), start);
      if (fromLane === toLane) pen.lineTo(x(toLane), end);
      else {
        const bend = y(to) - ROW_PX / 2;
        pen.lineTo(x(fromLane), Math.max(start, bend - 4));
        pen.quadraticCurveTo(x(fromLane), y(to), x(toLane) - MARK_PX, y(to));
      }
    }
    pen.stroke();
  });
  return (
    <div aria-hidden="true" className="gutter">
      <canvas ref={canvas} style={{ width: gutterWidth(lanes.count) }} />
    </div>
  );
}

const MAPPED_FROM = 200;

const MAP_COLORS: { readonly [kind in LaneRow['kind']]?: string } = {
  hung: '--blocked',
  branch: '--checkpoint',
  skipped: '--border-strong',
};

function mapColor(row: LaneRow): string {
  if (row.kind !== 'step') return MAP_COLORS[row.kind] ?? '--border-strong';
  if ((row.step.openGaps ?? 0) > 0 || row.step.state === 'blocked') return '--blocked';
  return row.step.state === 'due' ? '--running' : '--complete';
}

/** The whole run beside a long list. It moves the list; everything in it can also be reached by the list itself. */
export function MiniMap({ lanes, scroller }: Parts) {
  return lanes.rows.length > MAPPED_FROM ? <RunMap lanes={lanes} scroller={scroller} /> : null;
}

function RunMap({ lanes, scroller }: Parts) {
  const { rows } = lanes;
  const view = useRef<HTMLDivElement>(null);
  /** What the rows look like is painted once; only the frame around what can be seen moves. */
  const painted = useRef('');
  const canvas = useDrawing(scroller, (target, list) => {
    const share = target.clientHeight / list.scrollHeight;
    if (view.current !== null) {
      view.current.style.height = `${list.clientHeight * share}px`;
      view.current.style.transform = `translateY(${list.scrollTop * share}px)`;
    }
    const looks = `${rows.length} ${rows[0]?.key} ${target.clientHeight} ${themeNow()} ${devicePixelRatio}`;
    if (looks !== painted.current && paintMap(target, rows)) painted.current = looks;
  });
  const jump = ({ clientY, currentTarget, buttons }: React.PointerEvent<HTMLCanvasElement>) => {
    const list = scroller.current;
    if (list === null || buttons !== 1) return;
    const { top, height } = currentTarget.getBoundingClientRect();
    list.scrollTop = ((clientY - top) / height) * list.scrollHeight - list.clientHeight / 2;
  };
  return (
    <div aria-hidden="true" className="minimap">
      <canvas ref={canvas} onPointerDown={jump} onPointerMove={jump} />
      <div ref={view} className="minimap-view" />
    </div>
  );
}

function paintMap(target: HTMLCanvasElement, rows: readonly LaneRow[]): boolean {
  const ready = prepared(target);
  if (ready === undefined) return false;
  const { pen, height } = ready;
  const style = getComputedStyle(target);
  const per = height / rows.length;
  for (const [i, row] of rows.entries()) {
    pen.fillStyle = style.getPropertyValue(mapColor(row));
    pen.fillRect(4 + Math.min(row.lane, 3) * 6, i * per, 8, Math.max(1, per - 0.5));
  }
  return true;
}
