import { describe, expect, test } from 'vitest';
import type { SessionEvent } from '../../src/core/log/event.ts';
import { contextAt } from '../../src/core/views/lineage.ts';
import { preferredTip } from '../../src/core/views/run-status.ts';
import { applyEvent, emptySessionView, foldEvents } from '../../src/core/views/session-view.ts';
import { isLong } from '../volume.ts';
import { countOperations } from './count-operations.ts';
import { randomHistory } from './random-history.ts';
import { type SessionWriter, sessionWriter, type WrittenNode } from './session-writer.ts';

const SIZES = [1_000, 10_000, ...(isLong ? [100_000] : [])];
/** How often a large context is read. */
const READINGS = isLong ? 100 : 20;

describe('the work of the views', { timeout: 60_000 }, () => {
  test('the work of the views grows linearly with the number of events', () => {
    const perEvent = SIZES.map((eventsMin) => {
      const { events } = randomHistory({ seed: 7, eventsMin });
      return countOperations(() => foldEvents(events)) / events.length;
    });
    console.log(`operations per event for ${SIZES.join(', ')} events: ${perEvent.map((n) => n.toFixed(2)).join(', ')}`);
    expect(Math.min(...perEvent)).toBeGreaterThan(1);
    expect(Math.max(...perEvent) / Math.min(...perEvent)).toBeLessThan(1.5);
  });

  test('finding the preferred tip after each event does not grow along a line', () => {
    const perEvent = [1_000, 10_000].map((eventsMin) => {
      const { events } = randomHistory({ seed: 7, eventsMin, rewindChance: 0 });
      return countOperations(() => foldAndAsk(events)) / events.length;
    });
    expect(Math.max(...perEvent) / Math.min(...perEvent)).toBeLessThan(1.5);
  });

  test('folding a large context does not copy it for every change', () => {
    const { events } = contextHistory({ keys: 15_000, steps: 1_000 });
    expect(countOperations(() => foldEvents(events))).toBeLessThan(20 * events.length);
  });

  test('reading the context at every tip does not grow along a line', () => {
    const perStep = [100, 1_000].map((steps) => {
      const { events } = contextHistory({ keys: 20, steps });
      return countOperations(() => foldAndAskContext(events)) / steps;
    });
    expect(Math.max(...perStep) / Math.min(...perStep)).toBeLessThan(1.5);
  });

  test('reading a large context at every tip copies it once each', () => {
    const { events } = contextHistory({ keys: 15_000, steps: READINGS });
    const first = countOperations(() => foldAndAskContext(events.slice(0, 4)));
    expect(countOperations(() => foldAndAskContext(events)) / first).toBeLessThan(1.5 * READINGS);
  });

  test.each<[string, (writer: SessionWriter, count: number) => void]>([
    ['steps off the end of a chain of blocked attempts', stepsOffBlockedChain],
    ['steps off every attempt of such a chain', stepsOffEveryAttempt],
    ['checkpoints made one upon the other', checkpointChain],
    ['checkpoints made at one step, and steps off each of them', checkpointsAtOneStep],
  ])('does not grow with %s', (_, write) => {
    const perEvent = [100, 1_000].map((count) => {
      const writer = sessionWriter();
      write(writer, count);
      return countOperations(() => foldEvents(writer.events)) / writer.events.length;
    });
    expect(Math.max(...perEvent) / Math.min(...perEvent)).toBeLessThan(1.5);
  });

  test('the work counter notices work that grows', () => {
    const list = Array.from({ length: 100 }, (_, i) => i);
    expect(countOperations(() => [...list])).toBeGreaterThanOrEqual(100);
    expect(countOperations(() => list.map((i) => i))).toBeGreaterThanOrEqual(100);
    expect(countOperations(() => new Map().set(1, 2))).toBe(1);
    expect(countOperations(() => undefined)).toBe(0);
  });
});

function contextHistory({ keys, steps }: { readonly keys: number; readonly steps: number }): SessionWriter {
  const writer = sessionWriter();
  const context = Object.fromEntries(Array.from({ length: keys }, (_, i) => [`key${i}`, i]));
  let at = writer.startRun({ context });
  for (let i = 0; i < steps; i++) at = writer.advance(at, { context: { key0: i } });
  return writer;
}

function foldAndAskContext(events: readonly SessionEvent[]): void {
  const view = emptySessionView();
  for (const event of events) {
    applyEvent(view, event);
    if (event.kind === 'context_set') contextAt(view.context, event.scope.nodeId);
  }
}

function blockedChain(writer: SessionWriter, count: number): readonly WrittenNode[] {
  const chain = [writer.startRun({ context: { tries: 0 } })];
  for (let i = 1; i <= count; i++) {
    chain.push(writer.block(chain.at(-1) as WrittenNode, { context: { tries: i }, gaps: [{ name: `gap ${i}` }] }));
  }
  return chain;
}

function stepsOffBlockedChain(writer: SessionWriter, count: number): void {
  const last = blockedChain(writer, count).at(-1) as WrittenNode;
  for (let i = 0; i < count; i++) writer.advance(last);
}

function stepsOffEveryAttempt(writer: SessionWriter, count: number): void {
  for (const attempt of blockedChain(writer, count)) writer.advance(attempt);
}

function checkpointChain(writer: SessionWriter, count: number): void {
  let at = writer.block(writer.startRun());
  for (let i = 0; i < count; i++) {
    at = writer.checkpoint(at, { note: { name: `note ${i}`, text: 'half way' } });
    writer.advance(at);
  }
}

function checkpointsAtOneStep(writer: SessionWriter, count: number): void {
  const root = writer.startRun();
  const made = Array.from({ length: count }, (_, i) =>
    writer.checkpoint(root, { note: { name: `note ${i}`, text: 'half way' } }),
  );
  for (const checkpoint of made) writer.advance(checkpoint);
}

function foldAndAsk(events: readonly SessionEvent[]): void {
  const view = emptySessionView();
  for (const event of events) {
    applyEvent(view, event);
    if (event.scope !== undefined) preferredTip(view.graph, event.scope.runId);
  }
}
