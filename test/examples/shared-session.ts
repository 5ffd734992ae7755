import type { SessionId } from '../../src/core/log/ids.ts';
import type { GivenReply } from '../../src/core/log/operation/stored-reply.ts';
import { type Engine, tokenOf } from './engine.ts';

export type SharedSession = {
  readonly sessionId: SessionId;
  /** The branch of the first run that continues. */
  readonly tip: GivenReply;
  /** The step that a checkpoint was made from. */
  readonly saved: GivenReply;
};

export function sessionOf({ structured }: GivenReply): SessionId {
  return (structured['session'] as { readonly sessionId: SessionId }).sessionId;
}

/** A session with everything a bundle can contain: two runs, a branch, a block, a checkpoint, artifacts, unusual texts. */
export async function sharedSession({ start, send, show, save }: Engine): Promise<SharedSession> {
  const first = await start('test.plain', { goal: 'To be shared', context: { 'naïve ✓': [1, { deep: null }] } });
  const second = await send(first, { notes: 'First step.\n"quoted" \\ and ünïcode 😀' });
  await save(second, 'On the way.', [{ kind: 'note', text: 'an artifact' }]);
  await send(second, { notes: 'Second step, left later.' });
  const branched = await send(await show(second), { notes: 'Second step again.' });
  // Without notes it is blocked.
  const tip = await send(branched);
  await start('test.skips', { attachTo: tokenOf(tip, 'stateToken') });
  return { sessionId: sessionOf(first), tip, saved: second };
}
