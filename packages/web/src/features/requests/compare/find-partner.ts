import { positionBefore, printQuery } from '@creel/contract';
import type { Answer, CapturedRequest, Query } from '@creel/contract';
import { client } from '../../../api/client.ts';
import { readList } from '../../../api/list-cache.ts';
import type { RequestList } from '../../../api/request-list.ts';
import { newestBelow } from '../../../api/request-queries.ts';

type Accepts = (other: CapturedRequest) => boolean;
const ANY: Accepts = () => true;

/**
 * The request that another one is first compared with. It is the newest older request of the same event type. Without
 * one, it is the newest older request of the same path. If there is none, the next older request, else the nearest
 * newer one that is loaded. `undefined` if there is no other request.
 */
export async function findPartner(uid: string, request: CapturedRequest): Promise<CapturedRequest | undefined> {
  const list = readList(uid);
  const similar = isSimilarTo(request);
  return (
    (await older(list, request, similar, () => searchBelow(uid, request, similar))) ??
    (await older(list, request, ANY, () => newestBelow(uid, request.index))) ??
    list.rows.findLast(({ index }) => index > request.index)
  );
}

function isSimilarTo({ eventType, path }: CapturedRequest): Accepts {
  return (other) => (eventType === null ? other.path === path : other.eventType === eventType);
}

/** The newest older request. The server is asked only if it may be one that is not loaded. If it fails, what is loaded counts. */
async function older(
  list: RequestList,
  { index }: CapturedRequest,
  accepts: Accepts,
  ask: () => Promise<CapturedRequest | undefined>,
): Promise<CapturedRequest | undefined> {
  const loaded = list.rows.find((row) => row.index < index && accepts(row));
  const end = loaded?.index ?? -1;
  const mayMiss =
    list.newest < index || list.gaps.some((gap) => Math.max(gap.after, end) + 1 < Math.min(gap.before, index));
  return mayMiss ? ask().catch(() => loaded) : loaded;
}

/** Size and number of the pages of matches that are looked at. A search for a path also finds longer paths. */
const PAGE = 200;
const MAX_PAGES = 10;

async function searchBelow(
  uid: string,
  { endpointId, index, eventType, path }: CapturedRequest,
  accepts: Accepts,
): Promise<CapturedRequest | undefined> {
  const matching: Query =
    eventType === null ? { kind: 'path', pattern: [path] } : { kind: 'event', patterns: [[eventType]] };
  const q = printQuery(matching);
  let before: string | undefined = positionBefore(endpointId, index);
  for (let page = 0; page < MAX_PAGES && before !== undefined; page++) {
    const query = { q, endpoint: uid, limit: PAGE, before };
    const answer: Answer<'search'> = await client.callWithHeaders('search', { query });
    const found = answer.data.find(accepts);
    if (found !== undefined) return found;
    before = answer.nextBefore;
  }
  return undefined;
}
