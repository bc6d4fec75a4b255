const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The age of a moment as a list shows it: 'now', '4s', '12m', '3h', '5d'; 'recently' when there is no time to go by (spec 8). */
export function shortAge(timestamp: string | null | undefined, now: number): string {
  const seconds = ageInSeconds(timestamp, now);
  if (seconds === undefined) return 'recently';
  if (seconds < 2) return 'now';
  if (seconds < MINUTE) return `${seconds}s`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)}h`;
  return `${Math.floor(seconds / DAY)}d`;
}

/** The same in words: 'just now', '4 seconds ago', '1 day ago'; 'recently' when there is no time to go by (spec 8). */
export function timeAgo(timestamp: string | null | undefined, now: number): string {
  const seconds = ageInSeconds(timestamp, now);
  if (seconds === undefined) return 'recently';
  if (seconds < 2) return 'just now';
  if (seconds < MINUTE) return count(seconds, 'second');
  if (seconds < HOUR) return count(Math.floor(seconds / MINUTE), 'minute');
  if (seconds < DAY) return count(Math.floor(seconds / HOUR), 'hour');
  return count(Math.floor(seconds / DAY), 'day');
}

/** Whole seconds, never negative: two clocks may differ. */
function ageInSeconds(timestamp: string | null | undefined, now: number): number | undefined {
  const then = timestamp === null || timestamp === undefined ? Number.NaN : Date.parse(timestamp);
  return Number.isNaN(then) ? undefined : Math.max(0, Math.floor((now - then) / 1000));
}

function count(amount: number, unit: string): string {
  return `${amount} ${unit}${amount === 1 ? '' : 's'} ago`;
}

/** The time of day of a capture to the millisecond, in the viewer's zone. */
export function clockTime(timestamp: string): string {
  const date = new Date(timestamp);
  if (Number.isNaN(date.getTime())) return 'recently';
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}
