import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject, parseJson } from '../core/json/json-value.ts';
import { type ServerRecord, serverRecordShape } from '../core/wire/machine-shapes.ts';
import { readRegular } from './guarded-file.ts';
import { isAlive, ownClaim, parseClaim } from './lock/claim-locks.ts';

function recordsFolder(dataDir: string): string {
  return join(dataDir, 'cache', 'servers');
}

/**
 * Writes what this server applied, with what tells whether its process still runs. Returns what removes it. Nothing
 * depends on the record, so a disk that cannot take it is no reason to stop.
 */
export async function writeServerRecord(dataDir: string, record: ServerRecord): Promise<() => Promise<void>> {
  const folder = recordsFolder(dataDir);
  const file = join(folder, `${randomBytes(8).toString('hex')}.json`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(`${file}.tmp`, `${JSON.stringify({ ...record, claim: ownClaim() })}\n`, { mode: 0o600 });
    await rename(`${file}.tmp`, file);
  } catch {
    // The console then says that the server was not seen.
  }
  return () => rm(file, { force: true });
}

/** The servers that still run, latest start first. Records of ended processes are removed. */
export function liveServerRecords(dataDir: string): readonly ServerRecord[] {
  const folder = recordsFolder(dataDir);
  const found = namesIn(folder).flatMap((name) => readRecord(join(folder, name)) ?? []);
  return found.toSorted((a, b) => b.startedAt - a.startedAt);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.json'));
  } catch {
    // The first append of a server makes the folder.
    return [];
  }
}

function readRecord(file: string): ServerRecord | undefined {
  try {
    const stored = parseJson(readRegular(file).toString()).unwrapOr(undefined);
    const claim = isObject(stored) ? parseClaim(JSON.stringify(stored['claim'] ?? null)) : undefined;
    if (claim === undefined || !isAlive(claim)) {
      rmSync(file, { force: true });
      return undefined;
    }
    const record = serverRecordShape.safeParse(stored);
    return record.success ? record.data : undefined;
  } catch {
    // Its server has just removed it, or another user owns it.
    return undefined;
  }
}
