import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalLines } from '../src/core/json/canonical-json.ts';
import type { SessionEvent } from '../src/core/log/event.ts';
import {
  chainGenesis,
  chainOf,
  type ManifestRecord,
  segmentRelPath,
  type Unchained,
} from '../src/core/log/manifest.ts';
import { sha256 } from './examples/sha256.ts';

/** Exchanges the last append of the session in a folder for another and makes every hash fit again. */
export function forgeLast(
  folder: string,
  forge: (events: readonly SessionEvent[]) => readonly unknown[],
  change: (record: ManifestRecord) => ManifestRecord = (record) => record,
): void {
  const manifest = join(folder, 'manifest.jsonl');
  const records = readLines(manifest) as readonly ManifestRecord[];
  const from = records.findLastIndex(({ kind }) => kind === 'segment_closed');
  const attested = records[from];
  if (attested?.kind !== 'segment_closed') throw new Error(`${manifest} attests nothing`);

  const old = join(folder, attested.segmentRelPath);
  const forged = forge(readLines(old) as readonly SessionEvent[]);
  const bytes = canonicalLines(forged)._unsafeUnwrap();
  const lastEventIndex = attested.firstEventIndex + forged.length - 1;
  const relPath = segmentRelPath(attested.firstEventIndex, lastEventIndex);
  writeFileSync(old, bytes);
  renameSync(old, join(folder, relPath));

  const segment = {
    lastEventIndex,
    segmentRelPath: relPath,
    sha256: sha256(bytes),
    bytes: bytes.length,
    pins: records.length - from - 1,
  };
  let chain = records[from - 1]?.chain ?? chainGenesis(attested.sessionId, sha256);
  const rewritten = records.map((record, i) => {
    if (i < from) return record;
    const changed = change(i === from ? ({ ...record, ...segment } as ManifestRecord) : record);
    chain = chainOf(chain, changed as Unchained, sha256);
    return { ...changed, chain };
  });
  writeFileSync(manifest, canonicalLines(rewritten)._unsafeUnwrap());
}

function readLines(path: string): readonly unknown[] {
  return readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
}
