import { sessionOf } from '../examples/shared-session.ts';
import { type LookedAtWorld, lookedAtWorld, MINUTE_MS } from './looked-at.ts';

/**
 * The session in the documentation's picture: two steps, an abandoned branch, and a step that was blocked three times.
 */
export async function forked(world: LookedAtWorld) {
  const { start, send, show, wait } = world;
  const first = await start('test.plain', { goal: 'checkout fails on empty cart' });
  wait(42_000);
  const second = await send(first, { notes: 'Triaged.' });
  wait(70_000);
  const third = await send(second, { notes: 'Guessed.', context: { guess: 'rounding' } });
  wait(MINUTE_MS);
  await send(await send(third, { notes: 'Looked at rounding.', context: { guess: 'rounding', seen: true } }));
  wait(MINUTE_MS);
  let tip = await send(await show(third), { notes: 'Looked at the empty cart.' });
  wait(MINUTE_MS);
  tip = await send(tip, { notes: 'Found it.' });
  for (let i = 0; i < 3; i++) tip = await send(tip);
  return { sessionId: sessionOf(first), third, tip };
}

/** A program with that session. */
export async function forkedWorld() {
  const world = lookedAtWorld();
  return { ...world, ...(await forked(world)) };
}
