import type { EndpointDetail } from '@creel/contract';
import { formatCount } from '../../ui/sizes.ts';

type Hinted = Pick<EndpointDetail, 'isFavorite' | 'autosave' | 'stats'>;

/** The hints below the URL, by the state of the switches. */
export function endpointHints(endpoint: Hinted): string[] {
  return [
    'Send HTTP requests to this URL to view them in the dashboard below.',
    ...(endpoint.isFavorite === 'true' ? ['This endpoint is marked as a favorite and will never expire.'] : []),
    endpoint.autosave === 'true'
      ? 'Autosave is enabled. All incoming webhook requests will be automatically saved.'
      : "Autosave is disabled. You'll need to manually save incoming webhook requests.",
  ];
}

/** Why autosave has stopped saving; `undefined` if it works. */
export function savedCapacityNotice({ autosave, stats }: Hinted): string | undefined {
  if (autosave !== 'true' || stats.saved < stats.maxSaved) return undefined;
  return `This endpoint holds ${formatCount(stats.saved)} saved requests, the most it can keep. New requests are kept unsaved until you delete saved ones.`;
}
