import { performance } from 'node:perf_hooks';
import { applyEvent, emptySessionView } from '../src/core/views/session-view.ts';
import { randomHistory } from '../test/simulation/random-history.ts';

const SIZES = [1_000, 10_000, 100_000];
const RUNS = 5;

/** Times the fold of long histories and prints the fastest of a few runs for each size. */
export function benchFold(): void {
  const rows = SIZES.map((eventsMin) => {
    const { events, seed } = randomHistory({ seed: 1, eventsMin });
    const ms = Math.min(...Array.from({ length: RUNS }, () => timed(() => fold(events))));
    return { seed, events: events.length, ms: ms.toFixed(1), nsPerEvent: Math.round((ms * 1e6) / events.length) };
  });
  console.table(rows);
}

function fold(events: Parameters<typeof applyEvent>[1][]): void {
  const view = emptySessionView();
  for (const event of events) applyEvent(view, event);
}

function timed(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}
