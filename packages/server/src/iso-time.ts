export function isoTime(millis: number): string;
export function isoTime(millis: number | null): string | null;
/** A time as the API writes it. */
export function isoTime(millis: number | null): string | null {
  return millis === null ? null : new Date(millis).toISOString();
}
