import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { runFake } from '../../test/cli/fake-program.ts';
import { enforces } from '../../test/enforces.ts';
import { DAMAGED, HEALTHY } from '../../test/examples/audits.ts';
import { OTHER_SESSION } from '../../test/examples/ids.ts';
import { SESSION_EVENTS } from '../../test/examples/session.ts';
import { SNAPSHOTS_BY_REF } from '../../test/examples/snapshots.ts';
import { PRESETS } from '../core/log/autonomy.ts';
import { ID_BYTES, RunId, runTag, SessionId } from '../core/log/ids.ts';
import { summarise } from '../core/views/session-summary.ts';
import { foldEvents } from '../core/views/session-view.ts';
import { matchId, mayBeRun, runNamed, shortIds } from './ids.ts';

test('finds a damaged session by a run tag that only the index remembers, and says when nobody does', async () => {
  enforces('cli_ids_forgiving');
  const audits = [HEALTHY, DAMAGED];
  const argv = ['session', 'verify', '--quiet', 'zzzz'];
  const untold = await runFake({ argv, audits });
  expect(untold).toMatchObject({ exitCode: 3, out: '' });
  expect(untold.talk).toBe(
    'SESSION_NOT_FOUND: No session matches "zzzz".\n' +
      `Fix: The runs of 1 session cannot be read. To name one, type its id: ${OTHER_SESSION}.\n`,
  );
  const runId = RunId.of(Buffer.alloc(10, 0xff));
  expect(runTag(runId)).toBe('zzzz');
  const remembered = summarise(OTHER_SESSION, foldEvents(SESSION_EVENTS), {
    snapshotOf: (ref) => SNAPSHOTS_BY_REF.get(ref) ?? expect.fail(ref),
    defaults: PRESETS.guided,
  });
  const [run] = remembered.runs;
  const summaries = run === undefined ? [] : [{ ...remembered, runs: [{ ...run, runId }] }];
  expect((await runFake({ argv, audits, summaries })).out).toContain(`✗ ${OTHER_SESSION}  damaged`);
});

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

it('names each session so that a command finds it again', () => {
  // Few different bytes, so that beginnings and ends are shared.
  const anyId = fc
    .array(fc.constantFrom(0, 1, 255), { minLength: ID_BYTES, maxLength: ID_BYTES })
    .map((bytes) => SessionId.of(Uint8Array.from(bytes)));
  fc.assert(
    fc.property(fc.uniqueArray(anyId, { maxLength: 30 }), (ids) => {
      const short = shortIds(ids);
      const known = ids.map((sessionId) => ({ sessionId, runNames: [] }));
      for (const sessionId of ids) expect(matchId(short(sessionId), known)).toEqual({ kind: 'one', sessionId });
    }),
  );
});

it('takes four characters where they are enough', () => {
  const ids = [
    [0, 1],
    [0, 2],
  ].map((end) => SessionId.of(Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8, ...end])));
  expect(ids.map(shortIds(ids))).toEqual(ids.map((id) => id.slice(-4)));
});
