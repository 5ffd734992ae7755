const UNITS = [
  ['year', 365 * 24 * 3_600_000],
  ['month', 30 * 24 * 3_600_000],
  ['day', 24 * 3_600_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'short' });

/** How long ago something was, such as "3 min. ago". */
export function ago(ms: number, now: number): string {
  const past = Math.max(0, now - ms);
  const unit = UNITS.find(([, length]) => past >= length);
  return unit === undefined ? 'now' : RELATIVE.format(-Math.floor(past / unit[1]), unit[0]);
}

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const WHOLE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

export function clock(time: string | number): string {
  return CLOCK.format(new Date(time));
}

export function wholeTime(time: string | number): string {
  return WHOLE.format(new Date(time));
}

/** The time between two moments. */
export function duration(fromIso: string, toIso: string): string {
  const ms = Date.parse(toIso) - Date.parse(fromIso);
  return ms >= 0 ? length(ms) : '';
}

/** How long something took, such as "4 min". */
export function length(ms: number): string {
  const seconds = Math.round(Math.max(0, ms) / 1_000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min`;
  const hours = Math.floor(seconds / 3_600);
  return `${hours} h ${Math.round((seconds % 3_600) / 60)} min`;
}
