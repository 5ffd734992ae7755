import type { AuditFinding } from '../../app/ports/upkeep/store-audit.ts';
import { findingWords } from '../commands/session/verify-words.ts';
import type { Line, LineSpan } from '../output/line.ts';
import { plural, shortList, sizeOf } from '../output/wording.ts';
import type { SessionVerifyData } from '../shapes/session/session-verify-shape.ts';

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
