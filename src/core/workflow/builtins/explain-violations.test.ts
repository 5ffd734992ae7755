import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { BLOCKER_FIX_BYTES_MAX, BLOCKER_MESSAGE_BYTES_MAX } from '../../log/budgets.ts';
import { utf8Length } from '../../text/utf8.ts';
import { checkShape } from './check-artifact.ts';
import { contracts } from './contracts.ts';
import { contractFix, missingMessage, violationMessage } from './explain-violations.ts';

const violationsOf = (shape: JsonObject, artifact: JsonValue) => checkShape(shape, artifact)._unsafeUnwrapErr();

describe('the words for a refused artifact', () => {
  it('the message for a refused artifact names each place, what was found and what is allowed', () => {
    const contract = contracts.find('wr.contracts.loop_control');
    if (contract === undefined) throw new Error('no loop control');
    const violations = violationsOf(contract.shape, { kind: 'wr.loop_control', decison: 'stop', summary: '' });
    expect(violationMessage(contract, violations)).toBe(
      'The wr.loop_control artifact was not accepted: /decision is missing (continue | stop); /summary is empty (allowed: text); /decison is an unknown field (known fields: decision, kind, loopId, metadata, summary).',
    );
    expect(violationMessage(contract, violationsOf(contract.shape, 'stop'))).toBe(
      'The wr.loop_control artifact was not accepted: the artifact is "stop" (allowed: {decision: continue | stop, kind: wr.loop_control, loopId?: text, metadata?: object, summary?: text}).',
    );
    expect(missingMessage(contract)).toBe('The required artifact of kind wr.loop_control was not sent.');
  });

  it('the message says in a sentence which numbers are allowed', () => {
    const violation = { code: 'wrong_type', path: '/line', found: '"many"' } as const;
    const [open, closed] = ['whole number from 1', 'whole number from 1 to 9'].map((allowed) =>
      violationMessage({ artifactKind: 'wr.findings' }, [{ ...violation, allowed }]),
    );
    expect(open).toContain('/line is "many" (allowed: a whole number, 1 or more)');
    expect(closed).toContain('/line is "many" (allowed: a whole number from 1 to 9)');
  });

  it.each(contracts.all)('the words for a refused $artifactKind fit their budgets', (contract) => {
    const fix = contractFix(contract);
    expect(utf8Length(fix)).toBeLessThanOrEqual(BLOCKER_FIX_BYTES_MAX);
    expect(utf8Length(missingMessage(contract))).toBeLessThanOrEqual(BLOCKER_MESSAGE_BYTES_MAX);

    const longest = '€'.repeat(3000);
    const unknown = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`${longest}${i}`, longest]));
    const worst: readonly JsonValue[] = [{}, [], longest, unknown, { ...contract.example, kind: longest }];
    for (const artifact of worst) {
      const message = violationMessage(contract, violationsOf(contract.shape, artifact));
      expect(utf8Length(message)).toBeLessThanOrEqual(BLOCKER_MESSAGE_BYTES_MAX);
      expect(message.isWellFormed()).toBe(true);
    }
  });

  it('the message for a refused artifact counts the violations that do not fit', () => {
    const contract = contracts.find('wr.contracts.findings');
    if (contract === undefined) throw new Error('no findings');
    const artifact = { kind: 'wr.findings', findings: Array.from({ length: 5000 }, () => ({})) };
    const violations = violationsOf(contract.shape, artifact);
    expect(violations).toHaveLength(25_000);
    expect(violationMessage(contract, violations)).toMatch(/\); and 24992 more\.$/);
  });

  it('the message for a refused artifact fits its budget for any pinned contract', () => {
    const violation = fc.record({
      code: fc.constantFrom('missing', 'unknown_key', 'wrong_type'),
      path: fc.string({ unit: 'binary', maxLength: 400 }),
      found: fc.string({ unit: 'binary', maxLength: 400 }),
      allowed: fc.string({ unit: 'binary', maxLength: 400 }),
    });
    fc.assert(
      fc.property(fc.array(violation, { minLength: 1 }), fc.string({ maxLength: 900 }), (violations, text) => {
        const contract = { artifactKind: text };
        expect(utf8Length(violationMessage(contract, violations))).toBeLessThanOrEqual(BLOCKER_MESSAGE_BYTES_MAX);
        expect(utf8Length(contractFix(contract))).toBeLessThanOrEqual(BLOCKER_FIX_BYTES_MAX);
      }),
    );
  });
});
