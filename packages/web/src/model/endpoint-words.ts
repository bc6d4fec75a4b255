import type { Endpoint } from '@creel/contract';
import { formatDate } from './times.ts';

const SHORT_UID = 8;

type Named = Pick<Endpoint, 'name' | 'uid'>;
type Lasting = Pick<Endpoint, 'isFavorite' | 'expiresAt'>;

/** The name, or 'webhook/' and the first 8 characters of the uid (spec 2). */
export function endpointTitle(endpoint: Named): string {
  return endpoint.name ?? `webhook/${endpoint.uid.slice(0, SHORT_UID)}`;
}

/** Active until `expiresAt` has passed; a favourite never expires (spec 4). `now` in milliseconds. */
export function isExpired(endpoint: Lasting, now: number): boolean {
  return endpoint.isFavorite !== 'true' && endpoint.expiresAt !== null && Date.parse(endpoint.expiresAt) <= now;
}

/** The second line of the sidebar and of a card (spec 2). */
export function expiryLine(endpoint: Lasting, now: number): string {
  if (endpoint.isFavorite === 'true') return 'Never expires';
  if (endpoint.expiresAt === null) return 'No expiration set';
  return isExpired(endpoint, now) ? 'Expired' : `Expires ${formatDate(endpoint.expiresAt, now)}`;
}

/** The expiry text of the endpoint page (spec 2). */
export function expirySentence(endpoint: Lasting, now: number): string {
  if (endpoint.isFavorite === 'true') return 'Never expires (Favorite)';
  if (endpoint.expiresAt === null) return 'No expiration set';
  const date = formatDate(endpoint.expiresAt, now);
  return isExpired(endpoint, now) ? `Expired on ${date}` : `Expires on ${date}`;
}

/** Favourites first, then newest first (spec 2). */
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
