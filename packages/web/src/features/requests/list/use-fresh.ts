import { useEffect, useState } from 'react';

/** Milliseconds of the glow of a new row. */
const FRESH_MS = 1500;

/** More new rows than this at once are a stream, which is not animated. */
const MAX_ANIMATED_ROWS = 12;

/** The index above which rows are new and glow, and whether rows arrive too fast for animations. */
export function useFresh(newest: number | undefined): { readonly after: number; readonly busy: boolean } {
  const [baseline, setBaseline] = useState(newest);
  useEffect(() => {
    if (newest === baseline) return undefined;
    const timer = setTimeout(() => setBaseline(newest), FRESH_MS);
    return () => clearTimeout(timer);
  }, [newest, baseline]);
  if (baseline === undefined && newest !== undefined) setBaseline(newest);
  const after = baseline ?? Number.POSITIVE_INFINITY;
  const busy = newest !== undefined && newest - after > MAX_ANIMATED_ROWS;
  return { after: busy ? Number.POSITIVE_INFINITY : after, busy };
}
