import fc from 'fast-check';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { step } from '../../../test/examples/ids.ts';
import { type Blocker, blockerReport, blockerReportSchema, compareBlockers } from './blockers.ts';
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

const finding = (stepId: string, message: string): Blocker => ({
  code: 'MISSING_REQUIRED_OUTPUT',
  pointer: { kind: 'workflow_step', stepId: step(stepId) },
  message,
});

test('unmet requirements at one place become one blocker with all fixes', () => {
  enforces('details_optional_on_blocker_and_gap');
  const details = { loopId: 'outer', iteration: 2, maxIterations: 3 };
  const report = blockerReport([
    { ...finding('b', 'No notes.'), suggestedFix: 'Send notes.' },
    finding('a', 'Elsewhere.'),
    { ...finding('b', 'No rating.'), suggestedFix: 'Send a rating.', details },
    { ...finding('b', 'No reason.'), suggestedFix: 'Send notes.' },
  ]);
  expect(report).toEqual([
    finding('a', 'Elsewhere.'),
    {
      ...finding('b', 'No notes. No rating. No reason.'),
      suggestedFix: 'Send notes.\nSend a rating.',
      details,
    },
  ]);
});

test('details over their budget are left out of a report', () => {
  enforces('blocker_limits');
  const tooMuch = { text: 'x'.repeat(5_000) };
  const report = blockerReport([
    { ...finding('a', 'One.'), details: tooMuch },
    { ...finding('b', 'Two.'), details: tooMuch },
    { ...finding('b', 'Three.'), details: { few: 1 } },
  ]);
  expect(blockerReportSchema.safeParse(report).success).toBe(true);
  expect(report).toEqual([finding('a', 'One.'), { ...finding('b', 'Two. Three.'), details: { few: 1 } }]);
});

test('messages that do not fit are counted', () => {
  enforces('blocker_limits');
  const [report] = blockerReport(Array.from({ length: 20 }, (_, i) => finding('a', `${i}`.padEnd(99, '.'))));
  expect(report?.message.slice(-110)).toBe(`${'4'.padEnd(99, '.')} and 15 more`.slice(-110));
  const [cut] = blockerReport([finding('a', 'é'.repeat(300)), finding('a', 'More.')]);
  expect(cut?.message).toBe(`${'é'.repeat(249)}… and 1 more`);
});

test('places that do not fit are counted in the last blocker', () => {
  enforces('blocker_limits');
  const many = Array.from({ length: 13 }, (_, i) => finding(`s${10 + i}`, 'No notes.'));
  const report = blockerReport([...many, finding('s22', 'No rating.')]);
  expect(report.map(({ message }) => message)).toEqual([...Array(9).fill('No notes.'), 'No notes. and 4 more']);
});

test('a single message or fix that is too long is cut with the marker', () => {
  const [report] = blockerReport([{ ...finding('a', 'x'.repeat(600)), suggestedFix: 'y'.repeat(2_000) }]);
  expect(report).toEqual({
    ...finding('a', `${'x'.repeat(499)}\n\n[TRUNCATED]`),
    suggestedFix: `${'y'.repeat(1_011)}\n\n[TRUNCATED]`,
  });
});

test('the log accepts the report of any unmet requirements', () => {
  enforces('blocker_limits', 'blocker_order');
  const findings = fc.array(
    fc.record({
      code: fc.constantFrom(...BLOCKER_CODES),
      pointer: fc.integer({ min: 0, max: 5 }).map((n) => ({ kind: 'workflow_step' as const, stepId: step(`s${n}`) })),
      message: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 400 }),
      suggestedFix: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 700 }),
    }),
    { minLength: 1, maxLength: 40 },
  );
  fc.assert(
    fc.property(findings, (unmet) => {
      const report = blockerReport(unmet);
      expect(blockerReportSchema.safeParse(report).success).toBe(true);
    }),
    { numRuns: 200 },
  );
});

test('a report without blockers is a bug', () => {
  expect(() => blockerReport([])).toThrow('bug: a report has at least one blocker');
});
