import { join } from 'node:path';
import type { AuditFinding, AuditFindingKind } from '../../../app/ports/store-audit.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import type { Disk } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';

/** What a session folder holds when all is well; the claims are there where the system has no locks of its own. */
const EXPECTED: readonly string[] = ['.lock', '.lock.claims', 'events', 'keep', 'manifest.jsonl'];

/** Names in a session's folders, looked up before its manifest: what is being written meanwhile is not left over. */
export type SessionFiles = { readonly top: readonly string[]; readonly events: readonly string[] };

export function sessionFiles({ fs, root }: Disk, sessionId: SessionId): SessionFiles {
  return {
    top: fs.list(join(root, layout.session(sessionId))),
    events: fs.list(join(root, layout.events(sessionId))),
  };
}

/** Files that no part of the log names. They do no harm, and nobody but a person should take them away. */
export function findLeftovers(
  sessionId: SessionId,
  files: SessionFiles,
  segments: ReadonlySet<string>,
): readonly AuditFinding[] {
  const top = files.top.filter((name) => !EXPECTED.includes(name));
  const events = files.events.map((name) => `events/${name}`).filter((name) => !segments.has(name));
  return [...top, ...events].map((name) => ({
    severity: 'note',
    what: kindOf(name),
    place: join(layout.session(sessionId), name),
    offset: 0,
  }));
}

function kindOf(name: string): AuditFindingKind {
  if (/^manifest\.jsonl\.torn-\d+(?:-\d+)?$/.test(name)) return 'torn_bytes_kept';
  return /^events\/\d+-\d+\.jsonl$/.test(name) ? 'orphan_segment' : 'leftover_file';
}
