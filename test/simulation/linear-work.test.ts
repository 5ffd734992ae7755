import { describe, expect, test } from 'vitest';
import type { SessionEvent } from '../../src/core/log/event.ts';
import { applyEvent, emptySessionView, foldEvents } from '../../src/core/views/session-view.ts';
import { preferredTip } from '../../src/core/views/tips.ts';
import { countOperations } from './count-operations.ts';
import { randomHistory } from './random-history.ts';

const SIZES = [1_000, 10_000, 100_000];

describe('the work of the views', { timeout: 60_000 }, () => {
  test('grows with the number of events and no faster', () => {
    const perEvent = SIZES.map((eventsMin) => {
      const { events } = randomHistory({ seed: 7, eventsMin });
      return countOperations(() => foldEvents(events)) / events.length;
    });
    console.log(`operations per event for ${SIZES.join(', ')} events: ${perEvent.map((n) => n.toFixed(2)).join(', ')}`);
    expect(Math.min(...perEvent)).toBeGreaterThan(1);
    expect(Math.max(...perEvent) / Math.min(...perEvent)).toBeLessThan(1.5);
  });

  test('of finding the preferred tip after each event does not grow along a line', () => {
    const perEvent = SIZES.slice(0, 2).map((eventsMin) => {
      const { events } = randomHistory({ seed: 7, eventsMin, rewindChance: 0 });
      return countOperations(() => foldAndAsk(events)) / events.length;
    });
    expect(Math.max(...perEvent) / Math.min(...perEvent)).toBeLessThan(1.5);
  });

  test('is seen by the counter, so that work which does grow would fail', () => {
    const list = Array.from({ length: 100 }, (_, i) => i);
    expect(countOperations(() => [...list])).toBeGreaterThanOrEqual(100);
    expect(countOperations(() => list.map((i) => i))).toBeGreaterThanOrEqual(100);
    expect(countOperations(() => new Map().set(1, 2))).toBe(1);
    expect(countOperations(() => undefined)).toBe(0);
  });
});

function foldAndAsk(events: readonly SessionEvent[]): void {
  const view = emptySessionView();
  for (const event of events) {
    applyEvent(view, event);
    if (event.scope !== undefined) preferredTip(view.graph, event.scope.runId);
  }
}
