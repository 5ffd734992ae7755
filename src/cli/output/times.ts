const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Beyond this, a date is more useful than a number of days. */
const DAYS_AGO_MAX = 60;

/** How long ago something was. If the clock went back a little, it was just now. */
export function ago(ms: number, nowMs: number): string {
  const past = nowMs - ms;
  if (past < -DAY_MS) return `${dateOf(ms)} (in the future)`;
  if (past < MINUTE_MS) return 'just now';
  if (past < HOUR_MS) return `${Math.floor(past / MINUTE_MS)} min ago`;
  if (past < DAY_MS) return `${Math.floor(past / HOUR_MS)} h ago`;
  if (past < DAYS_AGO_MAX * DAY_MS) return `${Math.floor(past / DAY_MS)} d ago`;
  return dateOf(ms);
}

/** The local time of day, with the date unless it is today. */
export function clockTime(ms: number, nowMs: number): string {
  const at = new Date(ms);
  const time = `${twoDigits(at.getHours())}:${twoDigits(at.getMinutes())}`;
  return dateOf(ms) === dateOf(nowMs) ? time : `${dateOf(ms)} ${time}`;
}

/** `0:42`, `1:10`, `1:02:03`; days and hours for longer times. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / SECOND_MS));
  const [days, hours] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3_600) % 24];
  if (days > 0) return `${days} d ${hours} h`;
  const rest = `${Math.floor(seconds / 60) % 60}:${twoDigits(seconds % 60)}`;
  return hours > 0 ? `${hours}:${rest.padStart(5, '0')}` : rest;
}

function dateOf(ms: number): string {
  const at = new Date(ms);
  return `${at.getFullYear()}-${twoDigits(at.getMonth() + 1)}-${twoDigits(at.getDate())}`;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}
