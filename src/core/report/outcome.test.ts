import { expect, test } from 'vitest';
import { outcomeOf } from './outcome.ts';
import type { ReportRun } from './report.ts';

/** A run of one step with these checks, and what its verification report says about them. */
function runWith(checks: readonly object[], reported: readonly object[]): ReportRun {
  const content = { kind: 'wr.verification_report', checks: reported };
  const entry = {
    kind: 'step',
    nodeId: 'n1',
    checks,
    answers: [],
    skipped: [],
    contextKeys: [],
    artifacts: [{ kind: content.kind, content, isSuperseded: false }],
  };
  const branch = { name: 'main', isCurrent: true, line: ['n1'] };
  return { entries: [entry], branches: [branch], gaps: [] } as unknown as ReportRun;
}

test.each([
  ['known as well as its step asks for', { minimum: 'observed', grade: 'observed' }, 'pass', 'good'],
  ['known less well than its step asks for', { minimum: 'observed', grade: 'reported' }, 'pass', 'open'],
  ['reported as failed', { minimum: 'reported', grade: 'reported' }, 'fail', 'bad'],
  ['reported as skipped', { minimum: 'reported', grade: 'reported' }, 'skipped', 'open'],
  ['never shown', { minimum: 'reported' }, 'pass', 'bad'],
])('a report shows a check that is %s in the colour of that', (...[, check, outcome, state]) => {
  const run = runWith([{ checkId: 'tests', ...check }], [{ name: 'tests', outcome }]);
  expect(outcomeOf(run).checks.map((one) => one.state)).toEqual([state]);
});

test('a check with nothing but the notes of the agent is not shown as passed', () => {
  const run = runWith([{ checkId: 'tests', minimum: 'observed', grade: 'asserted' }], []);
  expect(outcomeOf(run).checks).toMatchObject([{ result: 'no result', state: 'open' }]);
});
