import { expect, it } from 'vitest';
import { engine } from '../../../test/examples/engine.ts';
import { sessionOf } from '../../../test/examples/shared-session.ts';
import type { MarkStore } from '../ports/session-marks.ts';
import { openSession } from './open-session.ts';

it('opening a session again reads only what was added, and nothing if nothing was', async () => {
  const { services, start, send } = engine();
  let reply = await start('test.plain', { goal: 'Go' });
  for (let i = 0; i < 5; i++) reply = await send(reply, { notes: 'On.' });
  const read: string[] = [];
  const counted: typeof services = {
    ...services,
    snapshots: {
      get: (ref) => {
        read.push('snapshot');
        return services.snapshots.get(ref);
      },
    },
    logs: {
      open: async (sessionId) =>
        (await services.logs.open(sessionId)).map((log) => ({
          ...log,
          readEvents: (append) => {
            read.push('append');
            return log.readEvents(append);
          },
        })),
    },
  };
  const open = async () => {
    read.length = 0;
    const opened = (await openSession(counted, sessionOf(reply) as never))._unsafeUnwrap();
    const [run] = opened.runs;
    return run === undefined ? undefined : opened.runPage(run.runId);
  };
  const count = (what: string) => read.filter((one) => one === what).length;

  const first = await open();
  expect(first?.lines.map(({ steps }) => steps.map(({ number, state }) => `${number} ${state}`))).toEqual([
    ['1 done', '2 done', '3 done', '4 done', '5 done', '6 due'],
  ]);
  // The store has read the log already.
  expect(count('append')).toBe(0);

  // The same page, without making it again.
  expect(await open()).toBe(first);
  expect(read).toEqual([]);

  reply = await send(reply, { notes: 'On.' });
  const next = await open();
  expect(next?.lines[0]?.steps.at(-1)).toMatchObject({ number: 7, state: 'due' });
  expect([count('append'), count('snapshot')]).toEqual([0, 2]);

  // Two looks at once see the same.
  reply = await send(reply, { notes: 'On.' });
  const [a, b] = await Promise.all([open(), open()]);
  expect(a).toEqual(b);
});

it('a mark that a person set shows, although the log is the same', async () => {
  const { services, start } = engine();
  const reply = await start('test.plain', { goal: 'Go' });
  const sessionId = sessionOf(reply) as never;
  const isKept = async () => (await openSession(services, sessionId))._unsafeUnwrap().isKept;
  expect(await isKept()).toBe(false);
  await (services.marks as MarkStore).setKept(sessionId, true);
  expect(await isKept()).toBe(true);
});
