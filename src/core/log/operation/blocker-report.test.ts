import fc from 'fast-check';
import { expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { step } from '../../../../test/examples/ids.ts';
import { type Blocker, blockerReportSchema } from '../blockers.ts';
import { BLOCKER_CODES } from '../reasons.ts';
import { blockerReport } from './blocker-report.ts';

const finding = (stepId: string, message: string): Blocker => ({
  code: 'MISSING_REQUIRED_OUTPUT',
  pointer: { kind: 'workflow_step', stepId: step(stepId) },
  message,
});

test('what is unmet at one place becomes one blocker with all fixes', () => {
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

test('details over their budget are left out, not the report with them', () => {
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

test('whatever is unmet, the report is one that the log takes', () => {
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

test('a report about nothing is our own mistake', () => {
  expect(() => blockerReport([])).toThrow('bug: a report has something to say');
});
