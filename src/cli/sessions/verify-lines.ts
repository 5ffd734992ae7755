import * as z from 'zod';
import { AUDIT_FINDING_KINDS, type AuditFinding, type AuditFindingKind } from '../../app/ports/upkeep.ts';
import { DAMAGE_REASONS, type DamageReason, salvageSchema } from '../../core/log/health.ts';
import { SessionId } from '../../core/log/ids.ts';
import { plural, shortList, sizeOf } from '../../core/text/words.ts';
import { commandShape } from '../command-shape.ts';
import type { Line, LineSpan } from '../output/line.ts';

/** What is wrong at the place of a finding, or what lies there, as the second half of a sentence. */
function findingWords({ what, offset, reason, version, code }: AuditFinding): string {
  if (what === 'unknown_version') return `has version ${version}, which this workrail does not know`;
  if (what === 'unreadable') return `cannot be read (${code})`;
  if (reason === 'manifest_cut_short' && offset === undefined) return 'is missing or empty, although there are events';
  const words = WORDS_BY_KIND[what];
  return words ?? (reason === undefined ? 'is damaged' : WORDS_BY_REASON[reason]);
}

/** Kinds that say more than the reason does. */
const WORDS_BY_KIND: { readonly [kind in AuditFindingKind]?: string } = {
  event_invalid: 'has an event that no workrail writes',
  history_inconsistent: 'has an event that contradicts those before it',
  orphan_segment: 'is named by no record of the manifest, so it is ignored',
  torn_tail: 'ends in an append that was cut off and never acknowledged, so the next one clears it away',
  torn_bytes_kept: 'keeps what an append that was cut off had written',
  leftover_file: 'is no part of the session, so it is ignored',
  salvage_mark: 'says that this is only part of a session: it can be read and exported, and never goes on',
};

const WORDS_BY_REASON: { readonly [reason in DamageReason]: string } = {
  manifest_not_json: 'has a line that is no JSON',
  manifest_wrong_record: 'has a record of a wrong shape',
  manifest_foreign_session: 'has a record of another session',
  manifest_chain_broken: 'has a record that was changed, moved or doubled',
  manifest_index_gap: 'has a record with a wrong number',
  manifest_events_not_contiguous: 'leaves out events between two records',
  manifest_pin_without_segment: 'has a record without the one it belongs to',
  manifest_pins_missing: 'lacks records of an append that is not the last',
  manifest_cut_short: 'ends too early: there are events behind that',
  segment_missing: 'is missing',
  segment_digest_mismatch: 'has changed since it was written',
  segment_not_json: 'has a line that is no JSON',
  segment_wrong_events: 'has other events than those that were recorded',
  content_missing: 'is missing',
  content_digest_mismatch: 'has changed since it was written',
  content_not_json: 'is no JSON',
  content_wrong_shape: 'has a wrong shape',
  salvaged: 'says that this is only part of a session, which never goes on',
};

type Session = SessionVerifyData['sessions'][number];

const GOOD: LineSpan = { text: '✓', style: 'good' };
const BAD: LineSpan = { text: '✗', style: 'bad' };
const PART: LineSpan = { text: '–', style: 'notable' };

/**
 * The report for people: what was found, each fact once, then the totals. Sessions about which there is nothing to say
 * that is not said elsewhere appear only when each is wanted.
 */
export function verifyLines(data: SessionVerifyData, isEachShown: boolean): readonly Line[] {
  const shown = data.sessions.filter(({ findings }) => isEachShown || findings.some((finding) => !isShared(finding)));
  return [...shown.flatMap(sessionLines), ...sharedLines(data.sessions), totalsLine(data)];
}

/** Content is stored once for all sessions, so what is wrong with it is said once. */
function isShared({ place }: AuditFinding): boolean {
  return !/^sessions[\\/]/.test(place);
}

function sessionLines({ sessionId, findings, ...session }: Session): readonly Line[] {
  const own = findings.filter((finding) => !isShared(finding));
  return [
    [markOf(session), ` ${sessionId}  ${stateOf(session, own)}, ${sizeOf(session.bytes)}`],
    ...own.map((finding): Line => ['    ', labelOf(finding), `  ${sentence(finding)}`]),
  ];
}

function markOf({ health }: Pick<Session, 'health'>): LineSpan {
  if (health.kind === 'healthy') return GOOD;
  return health.kind === 'salvaged' ? PART : BAD;
}

function stateOf({ health, events }: Pick<Session, 'health' | 'events'>, own: readonly AuditFinding[]): string {
  const count = plural(events, 'event');
  if (health.kind === 'healthy') return `healthy: ${count}`;
  if (health.kind === 'salvaged') return `salvaged, part of a session for reading only: ${count}`;
  if (!own.some(({ severity }) => severity === 'damage')) return `lacks content that it needs: ${count}`;
  return `${TROUBLE[health.kind]} ${events === 0 ? 'from the start' : `behind ${count}`}`;
}

const TROUBLE: { readonly [kind in Exclude<Session['health']['kind'], 'healthy' | 'salvaged'>]: string } = {
  unreadable: 'cannot be read',
  unknown_version: 'written by a newer workrail',
  corrupt_head: 'damaged',
  corrupt_tail: 'damaged',
};

function labelOf({ severity }: AuditFinding): LineSpan {
  return { text: severity, style: severity === 'damage' ? 'bad' : 'notable' };
}

function sentence(finding: AuditFinding): string {
  const { place, offset } = finding;
  return `${place}${offset === undefined ? '' : ` at byte ${offset}`} ${findingWords(finding)}`;
}

function sharedLines(sessions: readonly Session[]): readonly Line[] {
  const shared = new Map<string, { readonly finding: AuditFinding; readonly neededBy: string[] }>();
  for (const { sessionId, findings } of sessions) {
    for (const finding of findings.filter(isShared)) {
      const known = shared.get(finding.place) ?? { finding, neededBy: [] };
      known.neededBy.push(sessionId);
      shared.set(finding.place, known);
    }
  }
  return [...shared.values()].map(({ finding, neededBy }) => [
    BAD,
    ` ${sentence(finding)}; needed by ${shortList(neededBy)}`,
  ]);
}

function totalsLine({ dataDir, sessions: audits, totals }: SessionVerifyData): Line {
  const { sessions, damaged, events, bytes } = totals;
  const salvaged = audits.filter(({ health }) => health.kind === 'salvaged').length;
  const others = salvaged === 0 ? 'all' : 'the others';
  const verdict: LineSpan =
    damaged > 0
      ? { text: `${damaged} damaged`, style: 'bad' }
      : { text: sessions === salvaged ? 'none damaged' : `${others} healthy`, style: 'good' };
  const parts: readonly LineSpan[] = salvaged === 0 ? [] : [{ text: `${salvaged} salvaged, `, style: 'notable' }];
  const checked = `${plural(sessions, 'session')} checked in ${dataDir}, `;
  return [checked, ...parts, verdict, `: ${plural(events, 'event')}, ${sizeOf(bytes)}`];
}

const count = z.int().min(0);
/** Relative to the data directory. */
const place = z.string();
const damage = z.strictObject({ reason: z.enum(DAMAGE_REASONS), place, offset: count });

const health = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('healthy') }),
  /** Only part of a session, as it was taken in: it can be read and exported, and never goes on. */
  z.strictObject({ kind: z.literal('salvaged'), salvage: salvageSchema }),
  z.strictObject({ kind: z.literal('corrupt_tail'), damage }),
  z.strictObject({ kind: z.literal('corrupt_head'), damage }),
  /** What the system said: it may be whole, but nobody can tell. */
  z.strictObject({ kind: z.literal('unreadable'), place, code: z.string() }),
  z.strictObject({ kind: z.literal('unknown_version'), place, offset: count, version: z.string() }),
]);

const finding = z.strictObject({
  severity: z.enum(['damage', 'note']),
  what: z.enum(AUDIT_FINDING_KINDS),
  place,
  /** Where in the file; not told when all of it is meant. */
  offset: count.exactOptional(),
  reason: z.enum(DAMAGE_REASONS).exactOptional(),
  /** The version that is not known. */
  version: z.string().exactOptional(),
  /** What the system said, of something that cannot be read. */
  code: z.string().exactOptional(),
});

const sessionVerifyData = z.strictObject({
  /** The data directory that was looked into. */
  dataDir: z.string(),
  sessions: z.array(
    z.strictObject({
      sessionId: SessionId.schema,
      health,
      events: count,
      bytes: count,
      findings: z.array(finding).readonly(),
    }),
  ),
  totals: z.strictObject({ sessions: count, damaged: count, events: count, bytes: count }),
});
export type SessionVerifyData = z.infer<typeof sessionVerifyData>;

/** What `workrail session verify --json` prints. */
export const sessionVerifyShape = commandShape('session verify', sessionVerifyData);
