import { describe, expect, it } from 'vitest';
import { nearest, nearestId } from './spelling.ts';

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

  it('is found by the last part of dotted ids', () => {
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
