import { expect, it } from 'vitest';
import { engine } from '../../../test/examples/engine.ts';
import { sessionOf } from '../../../test/examples/shared-session.ts';
import { runLines } from '../../core/sessions/run-lines.ts';
import { inspectSession } from './inspect-session.ts';
import { sessionBoard } from './session-board.ts';

it('looking at a session again reads only the snapshots that were added', async () => {
  const { services, start, send } = engine();
  let reply = await start('test.plain', { goal: 'Go' });
  for (let i = 0; i < 5; i++) reply = await send(reply, { notes: 'On.' });
  const read: string[] = [];
  const counted: typeof services = {
    ...services,
    snapshots: {
      get: (ref) => {
        read.push(ref);
        return services.snapshots.get(ref);
      },
    },
  };
  const look = async () => {
    read.length = 0;
    const looked = (await inspectSession(counted, sessionOf(reply) as never, 'history'))._unsafeUnwrap();
    const [line] = looked.runs.flatMap(({ runId }) => runLines(looked, runId));
    return line?.steps.map(({ place }) => (place.kind === 'step' ? `${place.position} ${place.stepId}` : place.kind));
  };
  const first = await look();
  expect(first).toEqual(['1 s1', '2 s2', '3 s3', '4 s4', '5 s5', '6 s6']);
  expect(read).toHaveLength(7);
  expect(await look()).toEqual(first);
  // The tip alone, for where the run stands.
  expect(read).toHaveLength(1);
  reply = await send(reply, { notes: 'On.' });
  expect(await look()).toEqual([...(first ?? []), '7 s7']);
  expect(read).toHaveLength(2);
});

it('the board shows where each run stands, what blocks it and who is waited for, without reading a log', async () => {
  const { services, start, send } = engine();
  await send(await start('test.plain', { goal: 'Goes on' }), { notes: 'First line.\nSecond line.' });
  await send(await start('test.dependencies', { goal: 'Asks' }), { notes: 'tried' });
  const { rows, version } = (await sessionBoard(services))._unsafeUnwrap();
  const [plain, asking] = ['Goes on', 'Asks'].map((goal) =>
    rows.flatMap(({ summary }) => summary?.runs ?? []).find((run) => run.goal === goal),
  );
  expect(plain).toMatchObject({
    workflowName: expect.any(String),
    place: { kind: 'step', stepId: 's2', position: { index: 2, of: 12 } },
    stepsTotal: 12,
    attempts: 0,
    waitsForPerson: false,
    note: 'First line.',
  });
  expect(asking).toMatchObject({
    attempts: 1,
    waitsForPerson: true,
    blocker: { code: 'USER_ONLY_DEPENDENCY', message: expect.stringContaining('needs the user') },
  });
  expect(version).toBeGreaterThan(0);
});
