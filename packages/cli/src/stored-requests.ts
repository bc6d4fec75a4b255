import { ApiError, MAX_PAGE_SIZE, bodyBytesOf, unsavedId } from '@creel/contract';
import type { CapturedRequest, Client } from '@creel/contract';

/** Reads the newest `limit` requests (at most 500) of an endpoint, saved and unsaved, with an index below `before`. */
export async function readPage(client: Client, uid: string, limit: number, before?: number) {
  const input = { params: { uid }, query: { limit, before } };
  // Unsaved requests first: a request that is saved between the two calls is then found twice instead of never.
  const unsaved = await client.callWithHeaders('listUnsaved', input);
  const saved = await client.callWithHeaders('listSaved', input);
  const found = new Map([...unsaved.data, ...saved.data].map((request) => [request.index, request]));
  const all = [...found.values()].toSorted((a, b) => b.index - a.index);
  return {
    /** Newest first. */
    requests: all.slice(0, limit),
    /** True if there are older requests. */
    more: all.length > limit || unsaved.nextBefore !== undefined || saved.nextBefore !== undefined,
  };
}

/** What matches a query below the index `before`, newest first. */
export async function* foundRequests(
  client: Client,
  uid: string,
  q: string,
  before = Number.POSITIVE_INFINITY,
): AsyncGenerator<CapturedRequest, void, undefined> {
  let cursor: string | undefined;
  do {
    const page = await client.callWithHeaders('search', { query: { q, endpoint: uid, before: cursor } });
    yield* page.data.filter((request) => request.index < before);
    cursor = page.nextBefore;
  } while (cursor !== undefined);
}

/**
 * The whole body; `undefined` if it is not stored.
 * @throws ApiError
 */
export async function readBody(client: Client, uid: string, request: CapturedRequest): Promise<Uint8Array | undefined> {
  if (!request.bodyTruncated) return bodyBytesOf(request);
  try {
    return await withRequestId(client, uid, request, (id) => client.call('getRequestBody', { params: { uid, id } }));
  } catch (error) {
    if (error instanceof ApiError && error.code === 'REQUEST_NOT_FOUND') return undefined;
    throw error;
  }
}

/**
 * Yields stored requests with an index from `from` up to, but not including, `below`, oldest first. The server pages from the newest
 * request down. To hold one page at a time, the first pass notes only where pages begin, and the second reads them in reverse.
 */
export async function* storedBetween(
  client: Client,
  uid: string,
  from: number,
  below?: number,
): AsyncGenerator<CapturedRequest, void, undefined> {
  const begins = [below];
  let page = await readPage(client, uid, MAX_PAGE_SIZE, below);
  for (
    let last = page.requests.at(-1);
    page.more && last !== undefined && last.index > from;
    last = page.requests.at(-1)
  ) {
    begins.push(last.index);
    page = await readPage(client, uid, MAX_PAGE_SIZE, last.index);
  }
  let next = from;
  for (let at = begins.length - 1; at >= 0; at -= 1) {
    if (at < begins.length - 1) page = await readPage(client, uid, MAX_PAGE_SIZE, begins[at]);
    for (const request of page.requests.toReversed()) {
      if (request.index < next) continue;
      next = request.index + 1;
      yield request;
    }
  }
}

/** A request by its index, with its id if that is known. */
type RequestRef = Pick<CapturedRequest, 'index'> & Partial<Pick<CapturedRequest, 'id'>>;

/** Calls `act` with the id of a request. The id changes when the request is saved: then it is looked up, and `act` is called again. */
export async function withRequestId<Found>(
  client: Client,
  uid: string,
  { index, id = unsavedId(index) }: RequestRef,
  act: (id: number) => Promise<Found>,
): Promise<Found> {
  try {
    return await act(id);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'REQUEST_NOT_FOUND') throw error;
    const [saved] = await client.call('listSaved', { params: { uid }, query: { limit: 1, before: index + 1 } });
    if (saved?.index !== index) throw error;
    return await act(saved.id);
  }
}
