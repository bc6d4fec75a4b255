import type { EndpointDetail } from '@creel/contract';
import { formatCount } from '../../../ui/sizes.ts';

/** The share of the maximum of unsaved requests from which the limit is mentioned. */
const NEARLY_FULL = 0.9;

/**
 * Says that only the newest unsaved requests are kept, and how many were dropped. `undefined` while there is room, and
 * while autosave keeps every request.
 */
export function droppingLabel({ autosave, stats }: Pick<EndpointDetail, 'autosave' | 'stats'>): string | undefined {
  const { total, saved, maxSaved, maxUnsaved, dropped } = stats;
  const unsaved = total - saved;
  const savesAll = autosave === 'true' && saved < maxSaved;
  if (savesAll || unsaved === 0 || (dropped === 0 && unsaved < maxUnsaved * NEARLY_FULL)) return undefined;
  const kept = `The newest ${formatCount(maxUnsaved)} unsaved requests are kept.`;
  if (dropped === 0) return kept;
  return `${kept} ${formatCount(dropped)} older ${dropped === 1 ? 'one was' : 'ones were'} dropped.`;
}
