import { positionBefore, printQuery } from '@creel/contract';
import type { Answer, CapturedRequest, Query } from '@creel/contract';
import { client } from '../../../api/client.ts';
import type { ListedRequest } from '../../../api/request-list.ts';
import { readList } from '../../../api/request-lists.ts';
import { searchProgress } from '../../../api/request-queries.ts';

/** Size and number of the pages of matches that are looked at. A search for a path also finds longer paths. */
const PAGE = 200;
const MAX_PAGES = 10;

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
  return searchBelow(uid, request, printQuery(query)).catch(() => undefined);
}

async function searchBelow(uid: string, request: ListedRequest, q: string): Promise<CapturedRequest | undefined> {
  let before: string | undefined = positionBefore(request.endpointId, request.index);
  for (let page = 0; page < MAX_PAGES && before !== undefined; page++) {
    const query = { q, endpoint: uid, limit: PAGE, before };
    const answer: Answer<'search'> = await client.callWithHeaders('search', { query });
    const alike = answer.data.find(isAlike(request));
    if (alike !== undefined) return alike;
    before = searchProgress(answer).before;
  }
  return undefined;
}

function isAlike({ eventType, path }: CapturedRequest): (other: CapturedRequest) => boolean {
  return (other) => (eventType === null ? other.path === path : other.eventType === eventType);
}
