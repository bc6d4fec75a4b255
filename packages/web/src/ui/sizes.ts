const KILO = 1024;

/** Bytes below 1024, else KB or MB with one decimal. A missing size is 0 B. */
export function formatSize(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined || !Number.isFinite(bytes)) return '0 B';
  if (bytes < KILO) return `${Math.round(bytes)} B`;
  const kilobytes = (bytes / KILO).toFixed(1);
  return Number(kilobytes) < KILO ? `${kilobytes} KB` : `${(bytes / KILO / KILO).toFixed(1)} MB`;
}

/** The average size in KB with one decimal. A missing size is 0.0 KB. */
export function formatAverageSize(bytes: number | null | undefined): string {
  return `${((bytes ?? 0) / KILO).toFixed(1)} KB`;
}

/** An integer with thousands separators: 1,284. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

/** An exact size: 6,118 bytes. */
export function countBytes(size: number): string {
  return `${formatCount(size)} ${size === 1 ? 'byte' : 'bytes'}`;
}
