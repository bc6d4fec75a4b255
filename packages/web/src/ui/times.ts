const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MONTH = 30 * DAY;
const YEAR = 365 * DAY;

const UNITS: readonly (readonly [number, string, string])[] = [
  [YEAR, 'year', 'y'],
  [MONTH, 'month', 'mo'],
  [DAY, 'day', 'd'],
  [HOUR, 'hour', 'h'],
  [MINUTE, 'minute', 'm'],
  [SECOND, 'second', 's'],
];

/** Said when a time is missing or is none (spec 8). */
const FALLBACK = 'recently';

/** Milliseconds since an ISO time, never negative; `undefined` when it is none. */
function ageOf(iso: string | null | undefined, now: number): number | undefined {
  const time = Date.parse(iso ?? '');
  return Number.isNaN(time) ? undefined : Math.max(0, now - time);
}

/** '3 days ago', 'just now', or 'recently' when the time is not known. `now` in milliseconds. */
export function timeAgo(iso: string | null | undefined, now: number): string {
  const age = ageOf(iso, now);
  if (age === undefined) return FALLBACK;
  const unit = UNITS.find(([length]) => age >= length);
  if (unit === undefined) return 'just now';
  const count = Math.floor(age / unit[0]);
  return `${count} ${unit[1]}${count === 1 ? '' : 's'} ago`;
}

/** The narrow form for a column: 'now', '12s', '4m', '3d'. */
export function shortAge(iso: string | null | undefined, now: number): string {
  const age = ageOf(iso, now);
  if (age === undefined) return FALLBACK;
  const unit = UNITS.find(([length]) => age >= length);
  return unit === undefined ? 'now' : `${Math.floor(age / unit[0])}${unit[2]}`;
}

/** 'Nov 27', with the year when it is not this one. */
export function formatDate(iso: string, now: number): string {
  const date = new Date(iso);
  const sameYear = date.getFullYear() === new Date(now).getFullYear();
  return date.toLocaleDateString('en-US', { month: 'short', day: 'numeric', ...(sameYear ? {} : { year: 'numeric' }) });
}

const two = (part: number): string => String(part).padStart(2, '0');

/** '08:41', in the reader's own time zone. */
export function formatHour(iso: string): string {
  const date = new Date(iso);
  return `${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** '08:41:57.113', in the reader's own time zone. */
export function formatClock(iso: string): string {
  const date = new Date(iso);
  const seconds = `${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, '0')}`;
  return `${formatHour(iso)}:${seconds}`;
}

/** Made once: making one takes longer than drawing a row of the list. */
const MOMENT = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' });

/** Date and time in full, for a tooltip: 'Nov 21, 2026, 08:41:57'. */
export function formatMoment(iso: string): string {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? '' : MOMENT.format(date);
}
