import type { Line, Span } from '../output/line.ts';
import type { SessionVerifyData } from '../shapes/session-verify-shape.ts';

type Session = SessionVerifyData['sessions'][number];

/** The report for people: what was found, then the totals. Sessions without a finding only when each is wanted. */
export function verifyLines({ sessions, totals }: SessionVerifyData, isEachShown: boolean): readonly Line[] {
  const shown = sessions.filter(
    ({ health, findings }) => isEachShown || health.kind !== 'healthy' || findings.length > 0,
  );
  return [...shown.flatMap(sessionLines), totalsLine(totals)];
}

function sessionLines({ sessionId, health, events, bytes, findings }: Session): readonly Line[] {
  const isSound = health.kind === 'healthy' && findings.every(({ severity }) => severity === 'note');
  const mark: Span = isSound ? { text: '✓', style: 'good' } : { text: '✗', style: 'bad' };
  return [
    [mark, ` ${sessionId}  ${health.kind}${reasonOf(health)}  ${plural(events, 'event')}, ${sizeOf(bytes)}`],
    ...findings.map(({ severity, what, place, offset, code }): Line => {
      const label: Span = { text: severity, style: severity === 'damage' ? 'bad' : 'notable' };
      return ['    ', label, `  ${what}  ${place} ${code === undefined ? `at byte ${offset}` : `(${code})`}`];
    }),
  ];
}

function reasonOf(health: Session['health']): string {
  switch (health.kind) {
    case 'healthy':
      return '';
    case 'unreadable':
      return ` (${health.code} at ${health.place})`;
    case 'unknown_version':
      return ` (version ${health.version} in ${health.place} at byte ${health.offset})`;
    default:
      return ` (${health.damage.reason} in ${health.damage.place} at byte ${health.damage.offset})`;
  }
}

function totalsLine({ sessions, damaged, events, bytes }: SessionVerifyData['totals']): Line {
  const verdict: Span =
    damaged > 0 ? { text: `${damaged} damaged`, style: 'bad' } : { text: 'all healthy', style: 'good' };
  return [`${plural(sessions, 'session')} checked, `, verdict, `: ${plural(events, 'event')}, ${sizeOf(bytes)}`];
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

const UNITS = ['kB', 'MB', 'GB', 'TB'];

function sizeOf(bytes: number): string {
  let size = bytes;
  let unit = 'B';
  for (const next of UNITS) {
    if (size < 1_000) break;
    size /= 1_000;
    unit = next;
  }
  return `${unit === 'B' ? size : size.toFixed(1)} ${unit}`;
}
