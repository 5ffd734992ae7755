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
import { summarise } from '../core/sessions/session-summary.ts';
import { foldEvents } from '../core/views/session-view.ts';
import { matchId, mayBeRun, runNamed, shortIds } from './session-ids.ts';

test('a damaged session is found by a run tag in the index, and an unknown tag is reported', async () => {
  enforces('cli_ids_forgiving');
  const audits = [HEALTHY, DAMAGED];
  const argv = ['session', 'verify', '--quiet', 'zzzz'];
  const untold = await runFake({ argv, audits });
  expect(untold).toMatchObject({ exitCode: 3, out: '' });
  expect(untold.talk).toBe(
    'SESSION_NOT_FOUND: No session in /data/workrail matches "zzzz".\n' +
      `Fix: The runs of 1 session cannot be read. To name one, type its id: ${OTHER_SESSION}.\n`,
  );
  const runId = RunId.of(Buffer.alloc(10, 0xff));
  expect(runTag(runId)).toBe('zzzz');
  const remembered = summarise(OTHER_SESSION, foldEvents(SESSION_EVENTS), {
    snapshotOf: (ref) => SNAPSHOTS_BY_REF.get(ref) ?? expect.fail(ref),
    workflowOf: () => undefined,
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
  it('a session is found by its whole id, with or without the prefix', () => {
    expect(match(FIRST)).toEqual({ kind: 'one', sessionId: FIRST });
    expect(match('06e5gd0001aaaa7f')).toEqual({ kind: 'one', sessionId: FIRST });
  });

  it('a session is found by a unique beginning of its id', () => {
    expect(match('sess_07')).toEqual({ kind: 'one', sessionId: THIRD });
    expect(match('06e5gd0002')).toEqual({ kind: 'one', sessionId: SECOND });
  });

  it('a session is found by a unique end of its id', () => {
    expect(match('bb8g')).toEqual({ kind: 'one', sessionId: SECOND });
    expect(match('7f')).toEqual({ kind: 'one', sessionId: FIRST });
  });

  it('a session is found by the tag of one of its runs', () => {
    expect(match('7k2m')).toEqual({ kind: 'one', sessionId: FIRST });
    expect(match('7f3a')).toEqual({ kind: 'one', sessionId: SECOND });
  });

  it('a session is found by the whole id of one of its runs, which names that run', () => {
    const runId = RunId.schema.parse('run_06e5gd00dddd7k2m');
    expect(mayBeRun(` ${runId.toUpperCase()} `)).toBe(true);
    expect(matchId(runId, [...KNOWN, { sessionId: id('0000000000000001'), runNames: [runId] }])).toEqual({
      kind: 'one',
      sessionId: id('0000000000000001'),
    });
    expect(runNamed(runId, { sessionId: FIRST, runIds: [runId] })).toBe(runId);
    expect(runNamed(FIRST.slice(-4), { sessionId: FIRST, runIds: [runId] })).toBeUndefined();
  });

  it('upper case, surrounding spaces and letters that look like digits are accepted in an id', () => {
    expect(match('  SESS_07F3A ')).toEqual({ kind: 'one', sessionId: THIRD });
    expect(match('o7')).toEqual({ kind: 'one', sessionId: THIRD });
    expect(match('xOxl')).toEqual({ kind: 'one', sessionId: FIRST });
  });

  it('a whole session id wins over the tag of another session', () => {
    const tagged = [...KNOWN, { sessionId: id('0000000000000001'), runNames: [THIRD] }];
    expect(matchId(THIRD, tagged)).toEqual({ kind: 'one', sessionId: THIRD });
  });
});

describe('no session is found', () => {
  it('an id that matches several sessions names none', () => {
    expect(match('06e5')).toEqual({ kind: 'several', sessionIds: [FIRST, SECOND] });
    expect(match('sess_')).toEqual({ kind: 'several', sessionIds: [FIRST, SECOND, THIRD] });
    const twice = [...KNOWN, { sessionId: id('7f3a000000000000'), runNames: [] }];
    expect(matchId('7f3a', twice)).toMatchObject({ kind: 'several', sessionIds: [SECOND, 'sess_7f3a000000000000'] });
  });

  it('the middle of an id, an empty text and a non-id match no session', () => {
    for (const asked of ['gd0001', '', '  ', '../../etc', 'sess_*', '%']) {
      expect(match(asked), asked).toMatchObject({ kind: 'none' });
    }
  });

  it('similar ids are suggested, nearest first', () => {
    expect(match('sess_06e5gd0001aaaa7e')).toEqual({ kind: 'none', near: [FIRST] });
    expect(match('06e5dg0002')).toEqual({ kind: 'none', near: [SECOND, FIRST] });
    expect(match('7k2n')).toEqual({ kind: 'none', near: [FIRST] });
    expect(match('zzzzzzzz')).toEqual({ kind: 'none', near: [] });
    expect(matchId('abcd', [])).toEqual({ kind: 'none', near: [] });
  });
});

it('only a text of four characters can be a run tag', () => {
  expect(['7k2m', ' 7K2M ', '7k2', '7k2mm', ''].map(mayBeRun)).toEqual([true, true, false, false, false]);
});

it('every short id finds its session again', () => {
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

it('a short id has four characters if they are enough', () => {
  const ids = [
    [0, 1],
    [0, 2],
  ].map((end) => SessionId.of(Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8, ...end])));
  expect(ids.map(shortIds(ids))).toEqual(ids.map((id) => id.slice(-4)));
});
