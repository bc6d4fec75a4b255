import type { EndpointDetail } from '@creel/contract';

type Hinted = Pick<EndpointDetail, 'isFavorite' | 'autosave'>;

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
