const KILO = 1024;

/** Bytes below 1024, else KB with one decimal. A missing size is 0 B. */
export function formatSize(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined || !Number.isFinite(bytes)) return '0 B';
  return bytes < KILO ? `${Math.round(bytes)} B` : formatAverageSize(bytes);
}

/** The average size in KB with one decimal. A missing size is 0.0 KB. */
export function formatAverageSize(bytes: number | null | undefined): string {
  return `${((bytes ?? 0) / KILO).toFixed(1)} KB`;
}

/** Formatters are created once, because creating one takes longer than rendering a row. */
const COUNT_FORMAT = new Intl.NumberFormat('en-US');
const MONTH_FORMAT = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric' });
const DAY_FORMAT = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium' });
const MOMENT_FORMAT = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' });
const ZONE_FORMAT = new Intl.DateTimeFormat('en-US', { timeZoneName: 'short' });

/** An integer with thousands separators: 1,284. */
export function formatCount(count: number): string {
  return COUNT_FORMAT.format(count);
}

/** A number of things: '1 request', '1,284 requests'. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : plural}`;
}

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

/** Shown if a time is missing or invalid. */
const FALLBACK = 'recently';

/** Milliseconds since an ISO time, negative for a future one; `undefined` if it is invalid. */
function ageOf(iso: string | null | undefined, now: number): number | undefined {
  const time = Date.parse(iso ?? '');
  return Number.isNaN(time) ? undefined : now - time;
}

/** '3 days ago', 'moments ago', or 'recently' if the time is unknown. `now` in milliseconds. */
export function timeAgo(iso: string | null | undefined, now: number): string {
  const age = ageOf(iso, now);
  if (age === undefined) return FALLBACK;
  const unit = UNITS.find(([length]) => age >= length);
  if (unit === undefined) return 'moments ago';
  return `${counted(Math.floor(age / unit[0]), unit[1])} ago`;
}

/** A short form for a column: 'now', '12s', '4m', '3d'. */
export function shortAge(iso: string | null | undefined, now: number): string {
  const age = ageOf(iso, now);
  if (age === undefined) return FALLBACK;
  const unit = UNITS.find(([length]) => age >= length);
  return unit === undefined ? 'now' : `${Math.floor(age / unit[0])}${unit[2]}`;
}

/** A length of time, with the unit spelled out where it is short: '300 ms', '4 min', '1.5 h'. */
export function formatRoughDuration(ms: number): string {
  const units = [
    [DAY, 'd'],
    [HOUR, 'h'],
    [MINUTE, 'min'],
    [SECOND, 's'],
  ] as const;
  const [length, unit] = units.find(([each]) => ms >= each) ?? [1, 'ms'];
  const count = ms / length;
  return `${count < 10 ? Number(count.toFixed(1)) : Math.round(count)} ${unit}`;
}

/** 'Nov 27', with the year if it is not the current one. */
export function formatDate(iso: string, now: number): string {
  const date = new Date(iso);
  const isThisYear = date.getFullYear() === new Date(now).getFullYear();
  return (isThisYear ? MONTH_FORMAT : DAY_FORMAT).format(date);
}

const two = (part: number): string => String(part).padStart(2, '0');

/** '08:41' in the browser's time zone. */
export function formatHour(iso: string): string {
  const date = new Date(iso);
  return `${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** '08:41:57.113' in the browser's time zone. */
export function formatClock(iso: string): string {
  const date = new Date(iso);
  const seconds = `${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, '0')}`;
  return `${formatHour(iso)}:${seconds}`;
}

/** Date and time for a tooltip: 'Nov 21, 2026, 08:41:57'. */
export function formatMoment(iso: string): string {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? '' : MOMENT_FORMAT.format(date);
}

/** The exact time in the browser's time zone, with its name: 'Nov 21, 2026, 08:41:57.113 UTC'. */
export function formatInstant(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return '';
  const zone = ZONE_FORMAT.formatToParts(date).find(({ type }) => type === 'timeZoneName');
  return `${DAY_FORMAT.format(date)}, ${formatClock(iso)} ${zone?.value ?? ''}`.trim();
}

export type StatusTone = 'success' | 'warning' | 'destructive';

/** Green for 2xx, red for 400 and above, amber otherwise. */
export function statusTone(status: number): StatusTone {
  if (status >= 400) return 'destructive';
  return status >= 200 && status < 300 ? 'success' : 'warning';
}

/** `302 Found`; only the number if the destination sent no reason phrase. */
export function statusLine({ status, statusText }: { readonly status: number; readonly statusText: string }): string {
  return `${status} ${statusText}`.trim();
}

/** A duration for display: `34 ms`, `1.24 s`. */
export function formatDuration(ms: number): string {
  return ms < 999.5 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
}
