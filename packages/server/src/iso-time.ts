/** A time as the API writes it: ISO 8601 in UTC with milliseconds. */
export function isoTime(millis: number): string;
export function isoTime(millis: number | null): string | null;
export function isoTime(millis: number | null): string | null {
  return millis === null ? null : new Date(millis).toISOString();
}
