import { join } from 'node:path';
import type { SessionId } from '../../../core/log/ids.ts';
import { digestOf } from '../content/content-files.ts';
import type { Disk } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';
import { type PlainRecord, plainRecord } from '../session/plain-record.ts';

/** All of most manifests, and the last dozens of records of the others. */
const END_BYTES = 16 * 1024;

/**
 * Whether the end of a manifest, and the last append, plainly are what they should be. Otherwise nothing is known:
 * whoever wants to tell reads the session.
 */
export function isLastSegmentIntact({ fs, root }: Disk, sessionId: SessionId): boolean {
  const manifest = join(root, layout.manifest(sessionId));
  const from = Math.max(0, (fs.size(manifest) ?? 0) - END_BYTES);
  const end = fs.read(manifest, from) ?? new Uint8Array();
  const lines = Buffer.from(end.buffer, end.byteOffset, end.length).toString('latin1').split('\n');
  if (lines.pop() !== '') return false;
  // Reading may have begun inside of a line.
  const records = (from === 0 ? lines : lines.slice(1)).map(plainRecord);
  if (!records.every((one, i) => one !== undefined && isChained(one, records[i - 1]))) return false;
  const last = records.findLast((one) => one?.record.kind === 'segment_closed')?.record;
  if (last?.kind !== 'segment_closed') return false;
  const segment = fs.read(join(root, layout.session(sessionId), last.segmentRelPath));
  return segment !== undefined && digestOf(segment) === last.sha256;
}

function isChained({ record, chainBehind }: PlainRecord, before: PlainRecord | undefined): boolean {
  return before === undefined || record.chain === chainBehind(before.record.chain);
}
