const MINUTE_MS = 60_000;
const MINUTES_PER_DAY = 1_440;
/** Days from 0000-03-01 to 1970-01-01, and in four centuries. A year that begins in March has its leap day at its end. */
const DAYS_BEFORE_EPOCH = 719_468;
const DAYS_PER_ERA = 146_097;

/** A moment to the minute, for a person to know it again: `2026-11-15 14:20 UTC`. */
export function utcMinute(ms: number): string {
  const minutes = Math.floor(ms / MINUTE_MS);
  const day = Math.floor(minutes / MINUTES_PER_DAY);
  const minute = minutes - day * MINUTES_PER_DAY;
  return `${civilDate(day)} ${twoDigits(Math.floor(minute / 60))}:${twoDigits(minute % 60)} UTC`;
}

function civilDate(daysSinceEpoch: number): string {
  const days = daysSinceEpoch + DAYS_BEFORE_EPOCH;
  const era = Math.floor(days / DAYS_PER_ERA);
  const dayOfEra = days - era * DAYS_PER_ERA;
  const leapDays = Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1;
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return `${String(year).padStart(4, '0')}-${twoDigits(month)}-${twoDigits(day)}`;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}

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
