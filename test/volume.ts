import { spawnSync } from 'node:child_process';

/** `npm run check:long` tries everything; `npm run check` tries a share of it. */
export const isLong = process.env['WORKRAIL_LONG'] === '1';

/**
 * Where a check begins in what it cannot try whole. It follows from the commit, so that one commit always tries the
 * same part and the commits together try all of it. `WORKRAIL_SEED` repeats another one.
 */
export function drawnSeed(): number {
  return Number(process.env['WORKRAIL_SEED'] ?? commitSeed());
}

/** Every item in a long check, otherwise one in `every`; the seed and `from` say which one comes first. */
export function share<Item>(items: readonly Item[], { every = 4, from = 0 } = {}): readonly Item[] {
  const first = drawnSeed() + from;
  return isLong ? items : items.filter((_, at) => (at + first) % every === 0);
}

let commit: number | undefined;

/** A copy without git always begins at the same place. */
function commitSeed(): number {
  commit ??= readCommit();
  return commit;
}

function readCommit(): number {
  const { stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' });
  return Number.parseInt(/^[0-9a-f]{8}/.exec(stdout ?? '')?.[0] ?? '1', 16);
}
