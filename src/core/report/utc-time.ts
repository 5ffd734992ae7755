import { utcMinute } from '../text/utc-time.ts';

const MINUTE_MS = 60_000;

/** A moment in ISO 8601: `2026-11-15T14:20:07.123Z`. */
export function isoTime(ms: number): string {
  const [day = '', minute = ''] = utcMinute(ms).split(' ');
  const seconds = (((ms % MINUTE_MS) + MINUTE_MS) % MINUTE_MS) / 1_000;
  return `${day}T${minute}:${seconds.toFixed(3).padStart(6, '0')}Z`;
}

/** The same for a person: `2026-11-15 14:20 UTC`. */
export function shownTime(iso: string): string {
  return `${iso.slice(0, -14)} ${iso.slice(-13, -8)} UTC`;
}

/** Day and time to the second, for one event among many: `2026-11-15 14:20:07`. */
export function shownSecond(iso: string): string {
  return `${iso.slice(0, -14)} ${iso.slice(-13, -5)}`;
}
