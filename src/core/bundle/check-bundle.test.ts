import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { OTHER_SESSION, SESSION } from '../../../test/examples/ids.ts';
import { examplePlans, PLANS } from '../../../test/examples/session.ts';
import { EVENT_KINDS, parseEvent } from '../log/event.ts';
import { withSessionId } from './check-bundle.ts';

test('an event of every kind can be moved to another session, and all other ids stay', () => {
  enforces('import_as_new_on_collision');
  const there = Object.values(examplePlans(OTHER_SESSION)).flatMap(({ events }) => events);
  const here = Object.values(PLANS).flatMap(({ events }) => events);
  expect(new Set(here.map(({ kind }) => kind))).toEqual(new Set(EVENT_KINDS));
  for (const [i, event] of here.entries()) {
    const moved = withSessionId(event, OTHER_SESSION);
    expect(parseEvent(moved).isOk()).toBe(true);
    expect([moved.sessionId, moved.dedupeKey]).toEqual([OTHER_SESSION, there[i]?.dedupeKey]);
    expect({ ...moved, sessionId: SESSION, dedupeKey: event.dedupeKey }).toEqual(event);
    expect(withSessionId(moved, SESSION)).toEqual(event);
  }
});

test('an event in its own session is unchanged', () => {
  const [event = expect.fail('there are events')] = PLANS.start.events;
  expect(withSessionId(event, SESSION)).toBe(event);
});
