import { expect, it } from 'vitest';
import { attemptAt, foundAt, type Given } from '../../../../test/examples/step-attempt.ts';
import { passedOver } from './step-requirements.ts';

const CLAIM = { kind: 'wr.capability_observation', capability: 'web_browsing' };

function passed(parts: Parameters<typeof attemptAt>[0], given: Given) {
  const attempt = attemptAt(parts, given);
  return passedOver(attempt, foundAt(attempt)).map(({ severity, reason, requirement }) => [
    severity,
    reason,
    requirement,
  ]);
}

it('a preferred capability that is reported as missing is a warning; a required or available one is not', () => {
  const steps = [{ id: 'work', title: 'Work', prompt: 'Work.' }];
  const reported = (level: string, status: string) =>
    passed({ steps, capabilities: { web_browsing: level } }, { stepId: 'work', artifacts: [{ ...CLAIM, status }] });
  expect(reported('preferred', 'unavailable')).toEqual([
    ['warning', 'capability_missing:required_capability_unavailable', 'capability:web_browsing'],
  ]);
  expect(reported('preferred', 'available')).toEqual([]);
  expect(reported('required', 'unavailable')).toEqual([]);
});

it('a check that may be left to the notes and was not run is a warning', () => {
  const attempt = attemptAt({ steps: [{ id: 'work', title: 'Work', prompt: 'Work.' }] }, { stepId: 'work' });
  const checks = [
    { checkId: 'tests', minimum: 'asserted' },
    { checkId: 'lint', minimum: 'asserted', grade: 'observed' },
    { checkId: 'types', minimum: 'reported', grade: 'reported' },
  ] as const;
  const found = passedOver(attempt, { observations: [], checks });
  expect(found.map(({ severity, requirement }) => [severity, requirement])).toEqual([['warning', 'check:tests']]);
});
