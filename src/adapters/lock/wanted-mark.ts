import { rmSync, statSync, writeFileSync } from 'node:fs';

/** A sign beside a lock that somebody waits to have it alone. It excludes nobody; it asks to be let in first. */
export type WantedMark = {
  isSet(): boolean;
  /** Holds for a short while, so that one who waits sets it again and again and one who is gone is soon forgotten. */
  set(): void;
  clear(): void;
};

const HOLDS_MS = 250;

export function wantedMark(lockPath: string): WantedMark {
  const path = `${lockPath}.wanted`;
  return {
    isSet: () => {
      const changedMs = courteously(() => statSync(path, { throwIfNoEntry: false })?.mtimeMs);
      return changedMs !== undefined && Math.abs(Date.now() - changedMs) < HOLDS_MS;
    },
    set: () => courteously(() => writeFileSync(path, '1', { mode: 0o600 })),
    clear: () => courteously(() => rmSync(path, { force: true })),
  };
}

/** Nothing here is worth failing for. */
function courteously<Value>(act: () => Value): Value | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
