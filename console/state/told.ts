import { useSyncExternalStore } from 'react';

/** A value that parts of the page share without being each other's children. */
type Shared<Value> = {
  readonly get: () => Value;
  readonly set: (value: Value) => void;
  readonly use: () => Value;
};

export function shared<Value>(first: Value): Shared<Value> {
  let value = first;
  const listeners = new Set<() => void>();
  const get = () => value;
  return {
    get,
    set: (next) => {
      value = next;
      for (const listener of listeners) listener();
    },
    use: () =>
      useSyncExternalStore(
        (onChange) => {
          listeners.add(onChange);
          return () => listeners.delete(onChange);
        },
        get,
        get,
      ),
  };
}

/** What was just done, and how to undo it. It stays until it is put away or something else is done. */
export const notice = shared<{ readonly words: string; readonly undo?: () => void } | undefined>(undefined);

/** A file that was dropped or chosen, for the page that shows what importing it would do. */
export const offeredFile = shared<File | undefined>(undefined);

/** The sessions that are to be exported. */
export const exported = shared<readonly { readonly sessionId: string; readonly shortId: string }[]>([]);

/** What to type for `workrail` here. */
export const called = shared('workrail');

/** One side of a comparison, as it stands in an address. */
export type ComparedPlace = {
  readonly session: string;
  readonly run?: string | undefined;
  readonly at?: string | undefined;
  readonly words: string;
};

/** The first side, until the second is chosen. */
export const compared = shared<ComparedPlace | undefined>(undefined);
