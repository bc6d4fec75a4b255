const KILO = 1024;

/** Under 1024 bytes in bytes, else KB with one decimal; a missing size is 0 B (spec 9). */
export function formatSize(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined || !Number.isFinite(bytes)) return '0 B';
  return bytes < KILO ? `${Math.round(bytes)} B` : `${(bytes / KILO).toFixed(1)} KB`;
}

/** The average size: bytes/1024 with one decimal; a missing one is 0.0 KB (spec 9). */
export function formatAverageSize(bytes: number | null | undefined): string {
  return `${((bytes ?? 0) / KILO).toFixed(1)} KB`;
}

/** A whole number with its thousands set apart: 1,284. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

/** A size to the byte: 6,118 bytes. */
export function countBytes(size: number): string {
  return `${formatCount(size)} ${size === 1 ? 'byte' : 'bytes'}`;
}
