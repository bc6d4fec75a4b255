import type { EndpointDetail } from '@creel/contract';
import { formatCount } from '../../../ui/format.ts';

type Kept = Pick<EndpointDetail, 'autosave' | 'requestCount' | 'retention'>;

/** The share of the maximum of unsaved requests from which the limit is mentioned. */
const NEARLY_FULL = 0.9;

/**
 * Says that only the newest unsaved requests are kept, and how many were dropped. `undefined` below the limit, and
 * while autosave keeps every request.
 */
export function droppingWarning({ autosave, requestCount, retention }: Kept): string | undefined {
  const { saved, maxSaved, maxUnsaved, dropped } = retention;
  const unsaved = requestCount - saved;
  const savesAll = autosave === 'true' && saved < maxSaved;
  if (savesAll || unsaved === 0 || (dropped === 0 && unsaved < maxUnsaved * NEARLY_FULL)) return undefined;
  const kept = `The newest ${formatCount(maxUnsaved)} unsaved requests are kept.`;
  if (dropped === 0) return kept;
  return `${kept} ${formatCount(dropped)} older ${dropped === 1 ? 'one was' : 'ones were'} dropped.`;
}

/** Why autosave has stopped saving; `undefined` if it works. */
export function savedCapacityWarning({ autosave, retention }: Kept): string | undefined {
  if (autosave !== 'true' || retention.saved < retention.maxSaved) return undefined;
  return `This endpoint holds ${formatCount(retention.saved)} saved requests, the most it can keep. New requests are kept unsaved until you delete saved ones.`;
}

/** How many live messages could not be shown; `undefined` if there were none. */
export function badFramesWarning(badFrames: number): string | undefined {
  if (badFrames === 0) return undefined;
  const messages = badFrames === 1 ? 'One live message was' : `${formatCount(badFrames)} live messages were`;
  return `${messages} invalid and could not be shown. Reload the page to see everything.`;
}
