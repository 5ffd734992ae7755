import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { SESSION_EVENTS } from '../../../test/examples/session.ts';
import { withValue } from '../../../test/examples/single-field-changes.ts';
import { readSourceTree } from '../../../test/tidy/source-file.ts';
import { parseEvent } from './event.ts';
import { BLOCKER_CODES, GAP_DETAILS, REASONS } from './reasons.ts';

const root = resolve(import.meta.dirname, '../../..');
const golden = resolve(root, 'test/golden/log/reasons.json');

test('the reason codes are every detail of every gap category, and no more', () => {
  enforces('reason_codes_closed');
  const codes = Object.entries(GAP_DETAILS).flatMap(([category, details]) =>
    details.map((detail) => `${category}:${detail}`),
  );
  expect(Object.keys(REASONS)).toEqual(codes);
  expect(codes).toEqual([
    'user_only_dependency:needs_user_secret_or_token',
    'user_only_dependency:needs_user_account_access',
    'user_only_dependency:needs_user_artifact',
    'user_only_dependency:needs_user_choice',
    'user_only_dependency:needs_user_approval',
    'user_only_dependency:needs_user_environment_action',
    'contract_violation:missing_required_output',
    'contract_violation:invalid_required_output',
    'capability_missing:required_capability_unknown',
    'capability_missing:required_capability_unavailable',
    'unexpected:invariant_violation',
    'unexpected:storage_corruption_detected',
  ]);
});

test('each reason has the blocker and the gap that were released', () => {
  enforces('reason_to_blocker_mapping', 'reason_table_is_single');
  expect(REASONS).toEqual(JSON.parse(readFileSync(golden, 'utf8')));
});

test('every reason becomes a critical gap of its category and detail that the log accepts', () => {
  enforces('reason_gaps_are_critical');
  const gap = SESSION_EVENTS.find((event) => event.kind === 'gap_recorded');
  for (const [code, { gap: meant }] of Object.entries(REASONS)) {
    expect([`${meant.category}:${meant.detail}`, meant.severity]).toEqual([code, 'critical']);
    const { severity, ...reason } = meant;
    const event = withValue(withValue(gap, '/data/reason', reason), '/data/severity', severity);
    expect(parseEvent(event).isOk()).toBe(true);
  }
});

test('every blocker code belongs to a reason', () => {
  enforces('reason_to_blocker_mapping');
  expect(new Set(Object.values(REASONS).map(({ blocker }) => blocker))).toEqual(new Set(BLOCKER_CODES));
});

test('only the table names blockers and gap details together', () => {
  enforces('reason_table_is_single');
  const naming = (text: string, words: readonly string[]) => words.some((word) => text.includes(`'${word}'`));
  const details = Object.values(GAP_DETAILS).flat();
  const both = readSourceTree(root)
    .filter(({ path }) => path.startsWith('src/') && !path.endsWith('.test.ts'))
    .filter(({ codeWithStrings }) => naming(codeWithStrings, BLOCKER_CODES) && naming(codeWithStrings, details));
  expect(both.map(({ path }) => path)).toEqual(['src/core/log/reasons.ts']);
});
