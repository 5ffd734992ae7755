const actions = new Set<() => void>();

/** Signals that end the process without running its `exit` listeners, with the exit codes that shells use for them. */
const ENDINGS = [
  { signal: 'SIGHUP', listen: () => process.exit(129) },
  { signal: 'SIGTERM', listen: () => process.exit(143) },
] as const;

/**
 * Runs an action if the process ends before the work does, also by a signal. Returns a function that cancels this. The
 * latest action runs first. All share one listener, because Node reports many listeners as a leak.
 */
export function atExit(action: () => void): () => void {
  if (actions.size === 0) {
    process.once('exit', doAll);
    for (const { signal, listen } of ENDINGS) process.once(signal, listen);
  }
  actions.add(action);
  return () => {
    actions.delete(action);
    if (actions.size > 0) return;
    process.off('exit', doAll);
    for (const { signal, listen } of ENDINGS) process.off(signal, listen);
  };
}

function doAll(): void {
  for (const action of [...actions].reverse()) action();
}
