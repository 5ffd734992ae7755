import fc from 'fast-check';
import { expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { condition, ROOT, RUN, SESSION, step } from '../../../../test/examples/ids.ts';
import { sha256 } from '../../../../test/examples/sha256.ts';
import { STEP_ID_LENGTH_MAX, SUMMARY_BYTES_MAX, TRACE_REFS_MAX } from '../budgets.ts';
import { parseEvent, placeEvents } from '../event.ts';
import { conditionIdSchema } from '../ids.ts';
import { traceId } from '../operation/operation-drafts.ts';
import { dealTrace, TRACE_KINDS, type TraceEntry } from './graph-events.ts';

const entry = (summary: string): TraceEntry => ({ kind: 'selected_next_step', summary });
const ref = { kind: 'step_id', stepId: step('triage') } as const;

test('trace entries beyond 25 go into another event, in order', () => {
  enforces('trace_budgets');
  const entries = Array.from({ length: 60 }, (_, i) => entry(`choice ${i}`));
  const dealt = dealTrace(entries);
  expect(dealt.map(({ length }) => length)).toEqual([25, 25, 10]);
  expect(dealt.flat()).toEqual(entries);
  expect(dealTrace([])).toEqual([]);
});

test('an event is closed before it takes more than 8,192 bytes', () => {
  enforces('trace_budgets');
  const entries = Array.from({ length: 25 }, (_, i) => entry(`${i} `.padEnd(500, 'x')));
  const dealt = dealTrace(entries);
  expect(dealt.map(({ length }) => length)).toEqual([15, 10]);
  expect(dealt.flat()).toEqual(entries);
  expect(dealt.filter((part) => Buffer.byteLength(JSON.stringify(part)) > 8_192)).toEqual([]);
});

test('a summary over 512 bytes is cut with the marker, and refs beyond ten are left out', () => {
  enforces('trace_budgets', 'truncation_marker_exact');
  expect(dealTrace([{ ...entry('é'.repeat(300)), refs: Array(11).fill(ref) }])).toEqual([
    [{ ...entry(`${'é'.repeat(249)}\n\n[TRUNCATED]`), refs: Array(10).fill(ref) }],
  ]);
});

test('the largest possible trace entry fits into one event', () => {
  enforces('trace_budgets');
  const longest = 'z'.repeat(STEP_ID_LENGTH_MAX);
  const refs = Array.from({ length: TRACE_REFS_MAX }, () => ({
    kind: 'condition_id' as const,
    conditionId: condition(longest),
  }));
  // A control character takes one byte of the summary and six of the JSON.
  const largest: TraceEntry = { kind: 'detected_non_tip_advance', summary: '\u0001'.repeat(SUMMARY_BYTES_MAX), refs };
  const dealt = dealTrace([largest, largest, largest]);
  expect(dealt.flat()).toEqual([largest, largest, largest]);
  expect(dealt.filter((part) => !isRead(part))).toEqual([]);
  expect(conditionIdSchema.safeParse(`${longest}z`).success).toBe(false);
});

test('a trace event over any budget is refused', () => {
  enforces('trace_budgets', 'trace_shape');
  expect(isRead([entry('x')])).toBe(true);
  expect(isRead(Array(25).fill(entry('x')))).toBe(true);
  expect(isRead(Array(26).fill(entry('x')))).toBe(false);
  expect(isRead([entry('é'.repeat(257))])).toBe(false);
  expect(isRead(Array(17).fill(entry('x'.repeat(500))))).toBe(false);
});

test('the log accepts any trace and no entry is lost', () => {
  enforces('trace_budgets');
  const entries = fc.array(
    fc.record({
      kind: fc.constantFrom(...TRACE_KINDS),
      summary: fc.string({ unit: 'binary', minLength: 1, maxLength: 600 }),
      refs: fc.array(fc.constant(ref), { maxLength: 12 }),
    }),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(entries, (said) => {
      const dealt = dealTrace(said);
      expect(dealt.filter((part) => !isRead(part))).toEqual([]);
      expect(dealt.flat().map(({ kind }) => kind)).toEqual(said.map(({ kind }) => kind));
    }),
    { numRuns: 20 },
  );
});

function isRead(entries: readonly TraceEntry[]): boolean {
  const data = { traceId: traceId({ nodeId: ROOT, place: 0 }, sha256), entries: [...entries] };
  const [event] = placeEvents(
    [{ kind: 'decision_trace_appended', scope: { runId: RUN, nodeId: ROOT }, data }],
    { sessionId: SESSION, firstEventIndex: 0 },
    sha256,
  );
  return parseEvent(event).isOk();
}
