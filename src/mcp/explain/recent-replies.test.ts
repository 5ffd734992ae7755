import { describe, expect, it } from 'vitest';
import { recentReplies } from './recent-replies.ts';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** Something like a token: equal for equal seeds, and quite different for others. */
function token(prefix: string, tag: string, seed: number): string {
  const letters = Array.from({ length: 44 }, (_, i) => ALPHABET[(seed * (i + 7) * 2_654_435_761 + i * i) % 32] ?? '0');
  return `${prefix}_${tag}${letters.join('')}`;
}

function reply(tag: string, seed: number) {
  return {
    run: { tag, workflowId: 'wr.x' },
    stateToken: token('st', tag, seed),
    ackToken: token('ack', tag, seed + 0.25),
    checkpointToken: token('chk', tag, seed + 0.5),
  };
}

function remembering(...replies: ReturnType<typeof reply>[]) {
  const recent = recentReplies();
  for (const one of replies) recent.remember(one);
  return recent;
}

describe('a miscopied token', () => {
  const [first, second] = [reply('aaaa', 1), reply('bbbb', 2)];
  const recent = remembering(first, second);
  const { ackToken } = first;

  it.each([
    ['with another character', ackToken.replace(/.$/, (last) => (last === '0' ? '1' : '0'))],
    ['with one too few', ackToken.slice(0, 20) + ackToken.slice(21)],
    ['with one too many', `${ackToken.slice(0, 20)}x${ackToken.slice(20)}`],
    ['with two swapped', ackToken.slice(0, 30) + ackToken.charAt(31) + ackToken.charAt(30) + ackToken.slice(32)],
    ['in capitals and spaces', ` ${ackToken.toUpperCase().slice(0, 9)} ${ackToken.slice(9, -2)}`],
    ['cut off', ackToken.slice(0, 34)],
    ['cut off with dots', `${ackToken.slice(0, 34)}...`],
    ['cut off with a mark', `${ackToken.slice(0, 34)}…`],
  ])('%s is recognized from recent replies', (_, text) => {
    expect(recent.tokenLike(text)).toBe(ackToken);
  });

  it('a token that is similar to none or several is not guessed', () => {
    expect(recent.tokenLike('Looked around; all is well.')).toBeUndefined();
    expect(recent.tokenLike(token('ack', 'aaaa', 99))).toBeUndefined();
    expect(recent.tokenLike('ack_aaaa')).toBeUndefined();
    expect(recent.tokenLike('')).toBeUndefined();
  });
});

describe('recent replies', () => {
  it('the newest reply of each run is remembered, newest first', () => {
    const [old, other, newest] = [reply('aaaa', 1), reply('bbbb', 2), reply('aaaa', 3)];
    const recent = remembering(old, other, newest);
    expect(recent.ofEachRun().map(({ tag, stateToken }) => [tag, stateToken])).toEqual([
      ['aaaa', newest.stateToken],
      ['bbbb', other.stateToken],
    ]);
  });

  it('old replies are forgotten, so that memory is bounded', () => {
    const recent = remembering(...Array.from({ length: 65 }, (_, i) => reply(String(1_000 + i), i)));
    expect(recent.ofEachRun()).toHaveLength(64);
  });

  it('a reply that is not about a run is not remembered', () => {
    const recent = recentReplies();
    recent.remember({ kind: 'ok', workflows: [] });
    expect(recent.ofEachRun()).toEqual([]);
  });
});
