import { expect, it } from 'vitest';
import { RUN, SECOND, SESSION } from '../../../../test/examples/ids.ts';
import { sha256 } from '../../../../test/examples/sha256.ts';
import { TRACE_EVENTS_MAX } from '../../log/budgets.ts';
import { parseEvent } from '../../log/event.ts';
import { placeEvents } from '../../log/event-draft.ts';
import type { TraceEntry } from '../../log/events/trace-events.ts';
import { walkDrafts } from './drafts.ts';

const node = { runId: RUN, nodeId: SECOND };
const entries = (count: number): readonly TraceEntry[] => [
  ...Array.from({ length: count - 1 }, (_, n) => ({ kind: 'evaluated_condition' as const, summary: `Entry ${n}.` })),
  { kind: 'selected_next_step', summary: 'Chosen.' },
];
const traced = (count: number) =>
  walkDrafts(node, { skipped: [], trace: entries(count) }, sha256).flatMap((draft) =>
    draft.kind === 'decision_trace_appended' ? [draft.data.entries] : [],
  );

it('a trace is kept whole as long as there is room for it', () => {
  const full = TRACE_EVENTS_MAX * 25;
  expect(traced(full)).toHaveLength(TRACE_EVENTS_MAX);
  expect(traced(full).flat()).toEqual(entries(full));
});

it('one that is too long keeps its beginning and what was chosen, and says what it left out', () => {
  const trace = traced(5_000);
  const kept = (TRACE_EVENTS_MAX - 1) * 25;
  expect(trace).toHaveLength(TRACE_EVENTS_MAX);
  expect(trace.flat()).toEqual([
    ...entries(5_000).slice(0, kept),
    { kind: 'evaluated_condition', summary: `${5_000 - kept - 1} more entries found no room in this trace.` },
    { kind: 'selected_next_step', summary: 'Chosen.' },
  ]);
  const drafts = walkDrafts(node, { skipped: [], trace: entries(5_000) }, sha256);
  const events = placeEvents(drafts, { sessionId: SESSION, firstEventIndex: 0 }, sha256);
  expect(events.filter((event) => parseEvent(event).isErr())).toEqual([]);
});
