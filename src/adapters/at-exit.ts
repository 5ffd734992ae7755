const actions = new Set<() => void>();

/** What would end the process without its listeners being heard, with the exit codes that shells give them. */
const ENDINGS = { SIGHUP: 129, SIGTERM: 143 } as const;
const listeners = Object.entries(ENDINGS).map(([signal, code]) => ({ signal, listen: () => process.exit(code) }));

/**
 * Does something when the process ends before the work is over, also by a signal; gives what takes that back. What
 * began last is ended first. There is one listener for all, because Node takes many for a leak.
 */
export function atExit(action: () => void): () => void {
  if (actions.size === 0) {
    process.once('exit', doAll);
    for (const { signal, listen } of listeners) process.once(signal, listen);
  }
  actions.add(action);
  return () => {
    actions.delete(action);
    if (actions.size > 0) return;
    process.off('exit', doAll);
    for (const { signal, listen } of listeners) process.off(signal, listen);
  };
}

function doAll(): void {
  for (const action of [...actions].reverse()) action();
}
