import { join } from 'node:path';
import type { AuditFinding, AuditFindingKind } from '../../../app/ports/upkeep/store-audit.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import type { Disk } from '../disk/disk.ts';
import { ARRIVED, layout } from '../disk/layout.ts';
import { type LogDamage, looking } from './log-damage.ts';

/** What a session folder holds when all is well; the claims are there where the system has no locks of its own. */
const EXPECTED: readonly string[] = [
  '.lock',
  '.lock.claims',
  '.lock.holder',
  '.lock.wanted',
  ARRIVED,
  'closed',
  'events',
  'keep',
  'manifest.jsonl',
];

/** Names in a session's folders, looked up before its manifest: what is being written meanwhile is not left over. */
export type SessionFiles = {
  readonly top: readonly string[];
  readonly events: readonly string[];
  /** Folders that cannot be looked into. */
  readonly damages: readonly LogDamage[];
  /** It is no folder at all, so it is no session: somebody put a file there. */
  readonly isStray: boolean;
};

export function sessionFiles({ fs, root }: Disk, sessionId: SessionId): SessionFiles {
  const list = (place: string) => looking(place, () => fs.list(join(root, place)));
  const top = list(layout.session(sessionId));
  if (top.isErr()) {
    const isStray = top.error.fault.kind === 'unreadable' && top.error.fault.code === 'ENOTDIR';
    return { top: [], events: [], damages: isStray ? [] : [top.error], isStray };
  }
  const events = list(layout.events(sessionId));
  const damages = events.isErr() ? [events.error] : [];
  return { top: top.value, events: events.unwrapOr([]), damages, isStray: false };
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
  }));
}

function kindOf(name: string): AuditFindingKind {
  if (name === 'salvaged') return 'salvage_mark';
  if (/^manifest\.jsonl\.torn-\d+(?:-\d+)?$/.test(name)) return 'torn_bytes_kept';
  return /^events\/\d+-\d+\.jsonl$/.test(name) ? 'orphan_segment' : 'leftover_file';
}
