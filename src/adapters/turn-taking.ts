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
