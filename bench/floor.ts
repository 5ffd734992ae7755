import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type FileHandle, mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';

type Floor = { readonly once: () => Promise<void>; readonly close: () => Promise<void> };

/**
 * The fixed floor that an append is compared with: two put-if-absent of 2 kB and 5 kB in parallel and one manifest
 * write, five flushes in all, with nothing around them.
 */
export async function floor(dir: string): Promise<Floor> {
  const [small, large] = ['small', 'large'].map((name) => join(dir, name)) as [string, string];
  await Promise.all([small, large].map((path) => mkdir(path, { recursive: true })));
  const dirs = { small: await open(small, 'r'), large: await open(large, 'r') };
  const manifest = await open(join(dir, 'manifest'), 'a');
  const line = randomBytes(600);
  return {
    once: async () => {
      await Promise.all([
        putIfAbsent(small, dirs.small, randomBytes(2_000)),
        putIfAbsent(large, dirs.large, randomBytes(5_000)),
      ]);
      await manifest.write(line);
      await manifest.sync();
    },
    close: async () => {
      for (const handle of [dirs.small, dirs.large, manifest]) await handle.close();
    },
  };
}

async function putIfAbsent(path: string, dir: FileHandle, bytes: Buffer): Promise<void> {
  const target = join(path, bytes.toString('hex', 0, 32));
  if (existsSync(target)) return;
  const file = await open(`${target}.tmp`, 'wx', 0o600);
  await file.write(bytes);
  await file.sync();
  await file.close();
  await rename(`${target}.tmp`, target);
  await dir.sync();
}
