import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editDistance, meantIds, nearest, nearestId } from './spelling.ts';

describe('what a text may mean', () => {
  const known = [
    { id: 'wr.coding_task', name: 'Write code for a task' },
    { id: 'wr.code_review', name: 'Review a change' },
    { id: 'wr.templates.routine.plan_audit' },
    { id: 'team.plan', name: 'План выпуска' },
  ];

  it.each([
    ['coding', 'wr.coding_task'],
    ['the coding workflow', 'wr.coding_task'],
    ['Review a change', 'wr.code_review'],
    ['review change', 'wr.code_review'],
    ['wr.routine-plan-audit', 'wr.templates.routine.plan_audit'],
    ['план ВЫПУСКА', 'team.plan'],
    ['wr.coding_tsak', 'wr.coding_task'],
  ])('%s means one id', (written, id) => {
    expect(meantIds(written, known)).toEqual({ id, choices: [id] });
  });

  it('a text that shares words with several ids, or only some of its words, offers a choice', () => {
    expect(meantIds('code', known)).toEqual({ choices: ['wr.coding_task', 'wr.code_review'] });
    expect(meantIds('review the login page', known)).toEqual({ choices: ['wr.code_review'] });
    // Two workflows have that very name.
    const twice = ['team.change', 'project.change_it'].map((id) => ({ id, name: 'Change' }));
    expect(meantIds('Change', twice)).toEqual({ choices: ['team.change', 'project.change_it'] });
    expect([meantIds('wr', known), meantIds('…', known)]).toEqual([{ choices: [] }, { choices: [] }]);
  });
});

describe('what was probably meant', () => {
  it.each([
    ['promt', ['prompt', 'promptBlocks'], 'prompt'],
    ['equls', ['equals', 'endsWith'], 'equals'],
    ['Forach', ['for', 'forEach'], 'forEach'],
    ['ab', ['ba', 'xyz'], 'ba'],
    ['something', ['nothing_alike'], undefined],
    ['x'.repeat(1_000_000), ['x'], undefined],
  ])('by %.20s among %j is %s', (word, candidates, meant) => {
    expect(nearest(word, candidates)).toBe(meant);
  });

  it('a misspelled dotted id is matched by its last part', () => {
    const ids = ['wr.contracts.findings', 'wr.contracts.assessment'];
    expect(nearestId('wr.contracts.finding', ids)).toBe('wr.contracts.findings');
    expect(nearestId('wr.contracts.own', ids)).toBeUndefined();
  });

  it.each(['wr.bug-hunt', 'WR.BUG_HUNT', 'wr_bug_hunt', 'wr.bug_hunt.json', 'bug_hunt.json', 'bugHunt'])(
    'is found by %s, which is the same word in another spelling',
    (written) => {
      expect(nearestId(written, ['wr.bug_hint', 'wr.bug_hunt'])).toBe('wr.bug_hunt');
    },
  );
});

it('the edit distance counts inserted, missing, changed and swapped characters', () => {
  expect(editDistance('verify', 'verify')).toBe(0);
  expect(editDistance('verify', 'verfy')).toBe(1);
  expect(editDistance('verify', 'vverify')).toBe(1);
  expect(editDistance('verify', 'verafy')).toBe(1);
  expect(editDistance('verify', 'vreify')).toBe(1);
  expect(editDistance('verify', '')).toBe(6);
  expect(editDistance('kitten', 'sitting')).toBe(3);
});

it('the edit distance is symmetric, and zero only for equal texts', () => {
  const short = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 });
  fc.assert(
    fc.property(short, short, (a, b) => {
      expect(editDistance(a, b)).toBe(editDistance(b, a));
      expect(editDistance(a, b) === 0).toBe(a === b);
      expect(editDistance(a, b)).toBeGreaterThanOrEqual(Math.abs(a.length - b.length));
      expect(editDistance(a, b)).toBeLessThanOrEqual(Math.max(a.length, b.length));
    }),
  );
});
