const actions = new Set<() => void>();

/**
 * Does something when the process ends before the work is over, also by Ctrl-C; gives what takes that back. What began
 * last is ended first. There is one listener for all, because Node takes many for a leak.
 */
export function atExit(action: () => void): () => void {
  if (actions.size === 0) process.once('exit', doAll);
  actions.add(action);
  return () => {
    actions.delete(action);
    if (actions.size === 0) process.off('exit', doAll);
  };
}

function doAll(): void {
  for (const action of [...actions].reverse()) action();
}
