import { LOCK_WAIT_MS } from './lock/locks.ts';

/** Lets callers of one process that want the same thing go one after the other, without asking the disk. */
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

/** What somebody does whose turn has come, and what instead when it does not come in time. */
export type BoundedTurn<Value> = { readonly work: () => Promise<Value>; readonly late: () => Value };

/**
 * The same for those who wait no longer than for a lock. The work itself may take as long as it likes, so whoever wants
 * a second turn inside its own is told, instead of waiting for itself.
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
