import fc from 'fast-check';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { type Blocker, blockerReportSchema, compareBlockers } from './blockers.ts';
import { BLOCKER_CODES } from './reasons.ts';

const POINTERS = [
  { kind: 'capability', capability: 'delegation' },
  { kind: 'capability', capability: 'web_browsing' },
  { kind: 'context_key', key: 'a' },
  { kind: 'context_key', key: 'b' },
  { kind: 'output_contract', contractRef: 'wr.contracts.assessment' },
  { kind: 'output_contract', contractRef: 'wr.contracts.loop_control' },
  { kind: 'workflow_step', stepId: 'triage' },
] as const;
const blocker = (code: string, pointer: unknown) => ({ code, pointer, message: 'No.' }) as Blocker;

test('blockers are in order of code, then kind of pointer, then what it names', () => {
  enforces('blocker_order');
  const sorted = [...BLOCKER_CODES].sort().flatMap((code) => POINTERS.map((pointer) => blocker(code, pointer)));
  fc.assert(
    fc.property(fc.shuffledSubarray(sorted, { minLength: sorted.length }), (shuffled) => {
      expect(shuffled.toSorted(compareBlockers)).toEqual(sorted);
    }),
    { numRuns: 50 },
  );
});

test('a report out of order, with a place twice or empty is refused', () => {
  enforces('blocker_order', 'blocker_report_shape');
  const [a, b] = [blocker('INVARIANT_VIOLATION', POINTERS[2]), blocker('INVARIANT_VIOLATION', POINTERS[3])];
  const reports = [[a, b], [b, a], [a, a], []];
  expect(reports.map((report) => blockerReportSchema.safeParse(report).success)).toEqual([true, false, false, false]);
});

test('a report over its limits is refused, never cut', () => {
  enforces('blocker_limits', 'text_budgets_count_utf8_bytes');
  const steps = (count: number) =>
    Array.from({ length: count }, (_, i) =>
      blocker('INVARIANT_VIOLATION', { kind: 'workflow_step', stepId: `s${String(i).padStart(2, '0')}` }),
    );
  const only = blocker('INVARIANT_VIOLATION', POINTERS[6]);
  const reads = (report: readonly Blocker[]) => blockerReportSchema.safeParse(report).success;
  expect([reads(steps(10)), reads(steps(11))]).toEqual([true, false]);
  expect([256, 257].map((chars) => reads([{ ...only, message: 'é'.repeat(chars) }]))).toEqual([true, false]);
  expect([512, 513].map((chars) => reads([{ ...only, suggestedFix: 'é'.repeat(chars) }]))).toEqual([true, false]);
});
