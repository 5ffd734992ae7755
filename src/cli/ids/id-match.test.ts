import { describe, expect, it } from 'vitest';
import { RunId, SessionId } from '../../core/log/ids.ts';
import { matchId, mayBeRun, runNamed } from './id-match.ts';

const id = (body: string) => SessionId.schema.parse(`sess_${body}`);
const FIRST = id('06e5gd0001aaaa7f');
const SECOND = id('06e5gd0002bbbb8g');
const THIRD = id('07f3a00000ccccee');
const KNOWN = [
  { sessionId: FIRST, runNames: ['7k2m', 'x0x1'] },
  { sessionId: SECOND, runNames: ['7f3a'] },
  { sessionId: THIRD, runNames: [] },
];
const match = (asked: string) => matchId(asked, KNOWN);

describe('a session is found', () => {
  it('by its whole id, with or without the prefix', () => {
    expect(match(FIRST)).toEqual({ kind: 'one', sessionId: FIRST });
    expect(match('06e5gd0001aaaa7f')).toEqual({ kind: 'one', sessionId: FIRST });
  });

  it('by a beginning that no other session has', () => {
    expect(match('sess_07')).toEqual({ kind: 'one', sessionId: THIRD });
    expect(match('06e5gd0002')).toEqual({ kind: 'one', sessionId: SECOND });
  });

  it('by an end that no other session has', () => {
    expect(match('bb8g')).toEqual({ kind: 'one', sessionId: SECOND });
    expect(match('7f')).toEqual({ kind: 'one', sessionId: FIRST });
  });

  it('by the tag of one of its runs', () => {
    expect(match('7k2m')).toEqual({ kind: 'one', sessionId: FIRST });
    expect(match('7f3a')).toEqual({ kind: 'one', sessionId: SECOND });
  });

  it('by the whole id of one of its runs, which then is the run that is meant', () => {
    const runId = RunId.schema.parse('run_06e5gd00dddd7k2m');
    expect(mayBeRun(` ${runId.toUpperCase()} `)).toBe(true);
    expect(matchId(runId, [...KNOWN, { sessionId: id('0000000000000001'), runNames: [runId] }])).toEqual({
      kind: 'one',
      sessionId: id('0000000000000001'),
    });
    expect(runNamed(runId, { sessionId: FIRST, runIds: [runId] })).toBe(runId);
    expect(runNamed(FIRST.slice(-4), { sessionId: FIRST, runIds: [runId] })).toBeUndefined();
  });

  it('whatever the case, with spaces around it, and with letters for the digits they look like', () => {
    expect(match('  SESS_07F3A ')).toEqual({ kind: 'one', sessionId: THIRD });
    expect(match('o7')).toEqual({ kind: 'one', sessionId: THIRD });
    expect(match('xOxl')).toEqual({ kind: 'one', sessionId: FIRST });
  });

  it('by its whole id also when that is the beginning of nothing else and the tag of another', () => {
    const tagged = [...KNOWN, { sessionId: id('0000000000000001'), runNames: [THIRD] }];
    expect(matchId(THIRD, tagged)).toEqual({ kind: 'one', sessionId: THIRD });
  });
});

describe('no session is found', () => {
  it('when several fit, also in different ways', () => {
    expect(match('06e5')).toEqual({ kind: 'several', sessionIds: [FIRST, SECOND] });
    expect(match('sess_')).toEqual({ kind: 'several', sessionIds: [FIRST, SECOND, THIRD] });
    const twice = [...KNOWN, { sessionId: id('7f3a000000000000'), runNames: [] }];
    expect(matchId('7f3a', twice)).toMatchObject({ kind: 'several', sessionIds: [SECOND, 'sess_7f3a000000000000'] });
  });

  it('by a part from the middle, by nothing, or by something that is no id', () => {
    for (const asked of ['gd0001', '', '  ', '../../etc', 'sess_*', '%']) {
      expect(match(asked), asked).toMatchObject({ kind: 'none' });
    }
  });

  it('but those that are written nearly so are named, nearest first', () => {
    expect(match('sess_06e5gd0001aaaa7e')).toEqual({ kind: 'none', near: [FIRST] });
    expect(match('06e5dg0002')).toEqual({ kind: 'none', near: [SECOND, FIRST] });
    expect(match('7k2n')).toEqual({ kind: 'none', near: [FIRST] });
    expect(match('zzzzzzzz')).toEqual({ kind: 'none', near: [] });
    expect(matchId('abcd', [])).toEqual({ kind: 'none', near: [] });
  });
});

it('only a text of four characters may be the tag of a run', () => {
  expect(['7k2m', ' 7K2M ', '7k2', '7k2mm', ''].map(mayBeRun)).toEqual([true, true, false, false, false]);
});
