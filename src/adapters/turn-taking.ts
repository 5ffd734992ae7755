import { LOCK_WAIT_MS } from './lock/locks.ts';

/** Runs callers of one process that want the same key one after the other. */
export function turnTaking<Key>(): <Value>(key: Key, work: () => Promise<Value>) => Promise<Value> {
  const last = new Map<Key, Promise<unknown>>();
  return async (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const turn = before.then(work, work);
    last.set(key, turn);
    const isLast = () => last.get(key) === turn;
    return turn.finally(() => {
      if (isLast()) last.delete(key);
    });
  };
}

/** What to do when the turn comes, and what to do if it does not come in time. */
export type BoundedTurn<Value> = { readonly work: () => Promise<Value>; readonly late: () => Value };

/**
 * The same with a limit on the wait for a turn, but not on the work itself. A caller that asks for a second turn inside
 * its own is refused, instead of waiting for itself.
 */
export function boundedTurnTaking<Key>(): <Value>(key: Key, turn: BoundedTurn<Value>) => Promise<Value> {
  const inTurn = turnTaking<Key>();
  return (key, { work, late }) =>
    new Promise((resolve, reject) => {
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        resolve(late());
      }, LOCK_WAIT_MS);
      const takeTurn = async () => {
        if (isLate) return;
        clearTimeout(timer);
        await work().then(resolve, reject);
      };
      inTurn(key, takeTurn).catch(reject);
    });
}
