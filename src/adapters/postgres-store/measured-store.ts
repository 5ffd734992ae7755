import type { Result } from 'neverthrow';
import type { SpaceStore } from '../../app/ports/team-database.ts';
import { Overtaken } from './database-gate.ts';

/** Notes how something that was asked of a store ended: `ok`, `overtaken`, or the code of a refusal. */
export type StoreNote = (
  operation: 'append' | 'load',
  facts: { readonly outcome: string; readonly ms: number },
) => void;

/** A store whose appends and loads are counted. */
export function measuredStore(store: SpaceStore, note: StoreNote): SpaceStore {
  const { sessions } = store;
  async function measured<Value, Refusal extends { readonly code: string }>(
    operation: 'append' | 'load',
    work: () => Promise<Result<Value, Refusal>>,
  ): Promise<Result<Value, Refusal>> {
    const begun = performance.now();
    const ended = (outcome: string) => note(operation, { outcome, ms: performance.now() - begun });
    const done = await work().catch((error: unknown) => {
      ended(error instanceof Overtaken ? 'overtaken' : 'failed');
      throw error;
    });
    ended(done.isOk() ? 'ok' : done.error.code);
    return done;
  }
  return {
    ...store,
    sessions: {
      ...sessions,
      append: (permit, plan) => measured('append', () => sessions.append(permit, plan)),
      load: (sessionId) => measured('load', () => sessions.load(sessionId)),
    },
  };
}
