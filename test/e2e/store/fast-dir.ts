import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const IN_MEMORY = '/dev/shm';

/** A fresh folder where flushing costs nothing, so that races are closer; on the disk in the long check. */
export function fastDir(name: string): string {
  const isInMemory = process.env['WORKRAIL_LONG'] !== '1' && existsSync(IN_MEMORY);
  return mkdtempSync(join(isInMemory ? IN_MEMORY : tmpdir(), `workrail-${name}-`));
}
