import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isLong } from '../../volume.ts';

const IN_MEMORY = '/dev/shm';

/** A fresh folder where flushing costs nothing, so that races are closer; on the disk in the long check. */
export function fastDir(name: string): string {
  const isInMemory = !isLong && existsSync(IN_MEMORY);
  return mkdtempSync(join(isInMemory ? IN_MEMORY : tmpdir(), `workrail-${name}-`));
}
