import { useEffect, useState } from 'react';

/** Milliseconds that a new row counts as new: as long as it glows. */
const FRESH_MS = 1500;

/** More new rows than this at once are a stream: no animation could be followed. */
const MOST_AT_ONCE = 12;

/** Above which index rows are new and glow, and whether so many come that nothing moves. */
export function useFresh(newest: number | undefined): { readonly after: number; readonly busy: boolean } {
  const [baseline, setBaseline] = useState(newest);
  useEffect(() => {
    if (newest === baseline) return undefined;
    const timer = setTimeout(() => setBaseline(newest), FRESH_MS);
    return () => clearTimeout(timer);
  }, [newest, baseline]);
  if (baseline === undefined && newest !== undefined) setBaseline(newest);
  const after = baseline ?? Number.POSITIVE_INFINITY;
  const busy = newest !== undefined && newest - after > MOST_AT_ONCE;
  return { after: busy ? Number.POSITIVE_INFINITY : after, busy };
}
