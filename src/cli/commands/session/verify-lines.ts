import type { AuditFinding } from '../../../app/ports/store-audit.ts';
import type { Line, Span } from '../../output/line.ts';
import { plural, shortList, sizeOf } from '../../output/wording.ts';
import type { SessionVerifyData } from '../../shapes/session/session-verify-shape.ts';
import { findingWords } from './verify-words.ts';

type Session = SessionVerifyData['sessions'][number];

const GOOD: Span = { text: '✓', style: 'good' };
const BAD: Span = { text: '✗', style: 'bad' };

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
  const mark = session.health.kind === 'healthy' ? GOOD : BAD;
  return [
    [mark, ` ${sessionId}  ${stateOf(session, own)}, ${sizeOf(session.bytes)}`],
    ...own.map((finding): Line => ['    ', labelOf(finding), `  ${sentence(finding)}`]),
  ];
}

function stateOf({ health, events }: Pick<Session, 'health' | 'events'>, own: readonly AuditFinding[]): string {
  const count = plural(events, 'event');
  if (health.kind === 'healthy') return `healthy: ${count}`;
  if (!own.some(({ severity }) => severity === 'damage')) return `lacks content that it needs: ${count}`;
  return `${TROUBLE[health.kind]} ${events === 0 ? 'from the start' : `behind ${count}`}`;
}

const TROUBLE: { readonly [kind in Exclude<Session['health']['kind'], 'healthy'>]: string } = {
  unreadable: 'cannot be read',
  unknown_version: 'written by a newer workrail',
  corrupt_head: 'damaged',
  corrupt_tail: 'damaged',
};

function labelOf({ severity }: AuditFinding): Span {
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

function totalsLine({ dataDir, totals: { sessions, damaged, events, bytes } }: SessionVerifyData): Line {
  const verdict: Span =
    damaged > 0 ? { text: `${damaged} damaged`, style: 'bad' } : { text: 'all healthy', style: 'good' };
  const checked = `${plural(sessions, 'session')} checked in ${dataDir}, `;
  return [checked, verdict, `: ${plural(events, 'event')}, ${sizeOf(bytes)}`];
}
