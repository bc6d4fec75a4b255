import { isExpired, PLANS } from '@creel/contract';
import type { Endpoint, EndpointDetail, Tier } from '@creel/contract';
import { formatDate, formatHour } from '../../ui/format.ts';

/** Milliseconds: when an endpoint expires within two days, the hour is shown too. */
const SHOW_HOUR_WITHIN_MS = 48 * 60 * 60 * 1000;

type Expiring = Pick<Endpoint, 'isFavorite' | 'expiresAt'>;

/** The second line in the sidebar and on a card. */
export function expiryLine(endpoint: Expiring, now: number): string {
  if (endpoint.isFavorite === 'true') return 'Never expires';
  if (endpoint.expiresAt === null) return 'No expiration set';
  return isExpired(endpoint, now) ? 'Expired' : `Expires ${expiryDate(endpoint.expiresAt, now)}`;
}

/** The expiry text of the endpoint page. */
export function expiryLabel(endpoint: Expiring, now: number): string {
  if (endpoint.isFavorite === 'true') return 'Never expires (Favorite)';
  if (endpoint.expiresAt === null) return 'No expiration set';
  const date = expiryDate(endpoint.expiresAt, now);
  return isExpired(endpoint, now) ? `Expired on ${date}` : `Expires on ${date}`;
}

/** The day, with the hour if the expiry is near. */
function expiryDate(expiresAt: string, now: number): string {
  const date = formatDate(expiresAt, now);
  const left = Date.parse(expiresAt) - now;
  return left > 0 && left < SHOW_HOUR_WITHIN_MS ? `${date}, ${formatHour(expiresAt)}` : date;
}

/** Sorts favorites first, then newest first. */
export function sortEndpoints<E extends Pick<Endpoint, 'isFavorite' | 'createdAt' | 'id'>>(
  endpoints: readonly E[],
): E[] {
  return endpoints.toSorted(
    (a, b) =>
      Number(b.isFavorite === 'true') - Number(a.isFavorite === 'true') ||
      Date.parse(b.createdAt) - Date.parse(a.createdAt) ||
      b.id - a.id,
  );
}

type Hinted = Pick<EndpointDetail, 'isFavorite' | 'autosave'>;

/** The hints below the URL, by the state of the switches and the user's plan. */
export function endpointHints(endpoint: Hinted, tier: Tier | undefined): string[] {
  return [
    'Send HTTP requests to this URL to view them in the dashboard below.',
    ...(endpoint.isFavorite === 'true' ? ['This endpoint is marked as a favorite and will never expire.'] : []),
    endpoint.autosave === 'true'
      ? 'Autosave is enabled. All incoming webhook requests will be automatically saved.'
      : "Autosave is disabled. You'll need to manually save incoming webhook requests.",
    ...(tier === 'FREE' ? [PLANS.FREE.favoriteLimitSentence] : []),
  ];
}

/** The number of endpoints that count against the plan: all that have not expired. */
export function countedEndpoints(endpoints: readonly Expiring[], now: number): number {
  return endpoints.filter((endpoint) => !isExpired(endpoint, now)).length;
}

/** Why no further endpoint can be created; `undefined` if one can. Before the list is loaded, the server decides. */
export function createBlock(tier: Tier, endpoints: readonly Expiring[] | undefined, now: number): string | undefined {
  if (endpoints === undefined || countedEndpoints(endpoints, now) < PLANS[tier].endpoints) return undefined;
  return PLANS[tier].endpointLimitSentence;
}
