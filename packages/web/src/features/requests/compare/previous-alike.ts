import { positionBefore, printQuery } from '@creel/contract';
import type { CapturedRequest, Query } from '@creel/contract';
import { client } from '../../../api/client.ts';
import type { ListedRequest } from '../../../api/request-list.ts';
import { readList } from '../../../api/request-lists.ts';

/** Number of matches that are looked at. A search for a path also finds longer paths. */
const MAX_LOOKED_AT = 100;

/**
 * The newest older request of the same event type, or, without one, of the same path. `undefined` if there is none, or
 * if the search fails.
 */
export async function findPreviousAlike(uid: string, request: ListedRequest): Promise<CapturedRequest | undefined> {
  const isOlder = ({ index }: CapturedRequest): boolean => index < request.index;
  const { rows, gaps } = readList(uid);
  const loaded = rows.filter(isOlder).find(isAlike(request));
  const isNext = loaded !== undefined && !gaps.some((gap) => gap.before <= request.index && gap.after >= loaded.index);
  if (isNext) return loaded;
  const query: Query =
    request.eventType === null
      ? { kind: 'path', pattern: [request.path] }
      : { kind: 'event', patterns: [[request.eventType]] };
  const before = positionBefore(request.endpointId, request.index);
  const input = { q: printQuery(query), endpoint: uid, limit: MAX_LOOKED_AT, before };
  const found = await client.call('search', { query: input }).catch(() => []);
  return found.find(isAlike(request));
}

function isAlike({ eventType, path }: CapturedRequest): (other: CapturedRequest) => boolean {
  return (other) => (eventType === null ? other.path === path : other.eventType === eventType);
}
