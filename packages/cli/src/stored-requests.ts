import { ApiError, MAX_PAGE_SIZE, unsavedId } from '@creel/contract';
import type { CapturedRequest, Client } from '@creel/contract';

/** Requests of an endpoint as the server stores them, saved and unsaved together. */
export interface Page {
  /** Newest first. */
  readonly requests: readonly CapturedRequest[];
  /** True when there are older ones. */
  readonly more: boolean;
}

/** The newest `limit` (at most 500) below the index `before`. */
export async function readPage(client: Client, uid: string, limit: number, before?: number): Promise<Page> {
  const input = { params: { uid }, query: before === undefined ? { limit } : { limit, before } };
  // Unsaved ones first: what is saved in between is then found twice, and not missed.
  const unsaved = await client.callWithHeaders('listUnsaved', input);
  const saved = await client.callWithHeaders('listSaved', input);
  const found = new Map([...unsaved.data, ...saved.data].map((request) => [request.index, request]));
  const all = [...found.values()].toSorted((a, b) => b.index - a.index);
  return {
    requests: all.slice(0, limit),
    more: all.length > limit || unsaved.next !== undefined || saved.next !== undefined,
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
    cursor =
      page.next === undefined
        ? undefined
        : (new URL(page.next, 'http://origin.invalid').searchParams.get('before') ?? undefined);
  } while (cursor !== undefined);
}

/**
 * The whole body; `undefined` when it is not stored any more.
 * @throws ApiError
 */
export async function readBody(client: Client, uid: string, request: CapturedRequest): Promise<Uint8Array | undefined> {
  const { body, bodyEncoding, bodyTruncated, index } = request;
  if (!bodyTruncated) return Buffer.from(body ?? '', bodyEncoding);
  try {
    return await byIndex(client, uid, index, (id) => client.call('getRequestBody', { params: { uid, id } }));
  } catch (error) {
    if (error instanceof ApiError && error.code === 'REQUEST_NOT_FOUND') return undefined;
    throw error;
  }
}

/**
 * What is stored from the index `from` on and below `below`, oldest first. The server pages from the newest down: the way down only
 * notes where pages begin, and each is read again on the way up, so that no more than one is held however many there are.
 * Nothing new gets below `below` meanwhile, because indexes only grow.
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

/** The same call for the request with this index, whether it is saved or not: only its id says which (contract 2). */
export async function byIndex<Found>(
  client: Client,
  uid: string,
  index: number,
  read: (id: number) => Promise<Found>,
): Promise<Found> {
  try {
    return await read(unsavedId(index));
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'REQUEST_NOT_FOUND') throw error;
    const [saved] = await client.call('listSaved', { params: { uid }, query: { limit: 1, before: index + 1 } });
    if (saved?.index !== index) throw error;
    return await read(saved.id);
  }
}
