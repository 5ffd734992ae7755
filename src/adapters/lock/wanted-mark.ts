import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';

/** A sign beside a lock that somebody waits to have it alone. It excludes nobody; it asks to be let in first. */
export type WantedMark = {
  isSet(): boolean;
  /** Holds for a short while, so that one who waits sets it again and again and one who is gone is soon forgotten. */
  set(): void;
  /** Takes it away, unless somebody else has set it since: then it still says the truth. */
  clear(): void;
};

const HOLDS_MS = 250;

export function wantedMark(lockPath: string): WantedMark {
  const path = `${lockPath}.wanted`;
  let own: string | undefined;
  return {
    isSet: () => {
      const changedMs = courteously(() => statSync(path, { throwIfNoEntry: false })?.mtimeMs);
      return changedMs !== undefined && Math.abs(Date.now() - changedMs) < HOLDS_MS;
    },
    set: () => {
      own ??= randomBytes(8).toString('hex');
      const text = own;
      courteously(() => writeFileSync(path, text, { mode: 0o600 }));
    },
    clear: () =>
      courteously(() => {
        if (readFileSync(path, 'utf8') === own) rmSync(path, { force: true });
      }),
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
