import { applyEvent, emptySessionView } from '../src/core/views/session-view.ts';
import { randomHistory } from '../test/simulation/random-history.ts';
import { noted, type Row, timed } from './row.ts';

const SIZES = [1_000, 10_000, 100_000];
const RUNS = 5;

/** Times the fold of long histories: the fastest of a few runs for each size. */
export async function benchFold(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const eventsMin of SIZES) {
    const { events } = randomHistory({ seed: 1, eventsMin });
    const runs: number[] = [];
    for (let i = 0; i < RUNS; i++) runs.push((await timed(() => fold(events))).wallMs);
    rows.push(noted(`fold ${eventsMin} events, per event`, (Math.min(...runs) * 1e6) / events.length, 'ns'));
  }
  return rows;
}

function fold(events: Parameters<typeof applyEvent>[1][]): void {
  const view = emptySessionView();
  for (const event of events) applyEvent(view, event);
}
