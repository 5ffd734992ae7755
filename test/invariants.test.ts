import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { enforces } from './enforces.ts';
import { auditInvariants, type Invariant, orphansByArea } from './invariants/audit.ts';
import { claimsInText } from './invariants/claims.ts';
import { readRegistry, registrySchema } from './invariants/registry.ts';

const { rules, claims, audit } = readRegistry(fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, ''));

const rule = (id: string, capability = 'foundations'): Invariant => ({
  id,
  rule: 'It holds.',
  area: 'docs',
  capability,
});

describe('the invariant registry', () => {
  it('the registry exists and tests claim its rules', () => {
    expect(rules.length).toBeGreaterThan(500);
    expect(claims).toContainEqual({ id: 'invariant_registry_checked', path: 'test/invariants.test.ts' });
    expect(new Set(claims.map(({ path }) => path)).size).toBeGreaterThan(3);
  });

  it('each rule id appears once', () => {
    expect(audit.duplicates).toEqual([]);
  });

  it('every rule that a test claims is registered', () => {
    expect(audit.unknown).toEqual([]);
  });

  it('every rule of a finished part has a test', () => {
    expect(orphansByArea(audit.orphans)).toEqual([]);
  });

  it('the audit reports an unknown id, a repeated id and a rule without a test', () => {
    enforces('invariant_registry_checked');
    const planted = auditInvariants({
      rules: [rule('held'), rule('orphan'), rule('twice'), rule('twice'), rule('later', 'console')],
      claims: [
        { id: 'held', path: 'a.test.ts' },
        { id: 'twice', path: 'a.test.ts' },
        { id: 'misspelt', path: 'b.test.ts' },
        { id: 'orphan', path: 'b.test.ts', maySkip: true },
      ],
      builtCapabilities: ['foundations'],
    });
    expect(planted).toEqual({
      unknown: [{ id: 'misspelt', path: 'b.test.ts' }],
      duplicates: ['twice'],
      orphans: [rule('orphan')],
      open: [rule('later', 'console')],
    });
    expect(orphansByArea(planted.orphans)).toEqual(['docs (1): orphan']);
    const misspelt = ['misspelt'];
    expect(() => enforces(...misspelt)).toThrow('misspelt');
  });

  it('a malformed rule is refused', () => {
    const isSound = (value: unknown) => registrySchema.safeParse([value]).success;
    expect(isSound(rule('held'))).toBe(true);
    for (const wrong of [
      rule('notSnake'),
      rule('held', 'unheard_of'),
      { ...rule('held'), rule: '' },
      { ...rule('held'), rule: 'no sentence' },
      { ...rule('held'), note: 'x' },
    ]) {
      expect(isSound(wrong), JSON.stringify(wrong)).toBe(false);
    }
  });

  it('a claim of a test that does not run everywhere is known as such', () => {
    enforces('invariant_registry_checked');
    const text = [
      "it('a', () => { enforces('always'); });",
      "it.runIf(isHere('x'))('b', () => { enforces('if_here'); });",
      "describe.skipIf(isThere)('c', () => { it('d', () => { enforces('if_away'); }); });",
      "describe.runIf(isHere)\n  .each(KINDS)('e', () => { enforces('each_if_here'); });",
      "it('f', async ({ skip }) => { enforces('skips_itself'); if (!isHere) skip('not here'); });",
      "it.each(KINDS)('g', () => { enforces('each'); });",
    ].join('\n');
    const claims = claimsInText('a.test.ts', text);
    expect(claims.filter(({ maySkip }) => maySkip === true).map(({ id }) => id)).toEqual([
      'if_here',
      'if_away',
      'each_if_here',
      'skips_itself',
    ]);
    expect(claims.filter(({ maySkip }) => maySkip === undefined).map(({ id }) => id)).toEqual(['always', 'each']);
  });

  it('claims are read over several lines, and never from comments or strings', () => {
    const text = [
      'enforces(\'one\', "two");',
      'enforces(',
      "  'three', // because (of this)",
      '  `four`,',
      ');',
      "enforces(form === 'json' ? 'five' : 'six');",
      "// enforces('commented');",
      'const text = "enforces(\'quoted\')";',
      "export function enforces(...ids: 'declared'[]) {}",
    ].join('\n');
    expect(claimsInText('a.test.ts', text).map(({ id }) => id)).toEqual(['one', 'two', 'three', 'four', 'five', 'six']);
  });
});
