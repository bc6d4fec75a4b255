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
