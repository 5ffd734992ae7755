/** The last moment that a date can represent, in the year 275760. A log may contain any whole number as a time. */
const MS_MAX = 8.64e15;

/** A moment in ISO 8601: `2026-11-15T14:20:07.123Z`. */
export function isoTime(ms: number): string {
  return new Date(Math.min(ms, MS_MAX)).toISOString();
}

/** A moment to the minute: `2026-11-15 14:20 UTC`. */
export function utcMinute(ms: number): string {
  return shownTime(isoTime(ms));
}

/** An ISO time to the minute: `2026-11-15 14:20 UTC`. */
export function shownTime(iso: string): string {
  return `${iso.slice(0, -14)} ${iso.slice(-13, -8)} UTC`;
}

/** An ISO time to the second, for one event among many: `2026-11-15 14:20:07`. */
export function shownSecond(iso: string): string {
  return `${iso.slice(0, -14)} ${iso.slice(-13, -5)}`;
}
