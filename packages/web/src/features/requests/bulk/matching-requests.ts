import type { CapturedRequest } from '@creel/contract';
import { client } from '../../../api/client.ts';
import { slimRow } from '../../../api/limit-requests.ts';
import { newestFirst } from '../../../api/merge-requests.ts';
import { searchText } from '../../../api/request-filter.ts';
import type { RequestFilter } from '../../../api/request-filter.ts';
import { isHidden } from '../../../api/request-list.ts';
import type { ListedRequest } from '../../../api/request-list.ts';

const PAGE = 500;

interface ReadOptions {
  readonly signal: AbortSignal | undefined;
  /** Called after each page with the number of requests so far. */
  readonly onProgress?: ((count: number) => void) | undefined;
  /** What is kept of a request; by default all but its body and headers. `undefined` leaves it out. */
  readonly keep?: (request: CapturedRequest) => ListedRequest | undefined;
}

interface Page {
  readonly data: readonly ListedRequest[];
  readonly nextBefore: string | undefined;
}

/**
 * All stored requests that match the filter of the list, newest first. By default without bodies and headers, so that
 * 10,000 marked requests fit into memory.
 */
export async function readMatching(uid: string, filter: RequestFilter, options: ReadOptions): Promise<ListedRequest[]> {
  if (filter.query !== undefined) {
    const query = { q: searchText(filter), endpoint: uid, limit: PAGE };
    const search = (before: string | undefined) =>
      client.callWithHeaders('search', { query: { ...query, before } }, options.signal);
    return newestFirst(await readPages(search, options));
  }
  const unsaved = await readStored('listUnsaved', uid, filter.method, options);
  const onProgress = (count: number): void => options.onProgress?.(unsaved.length + count);
  const saved = await readStored('listSaved', uid, filter.method, { ...options, onProgress });
  return newestFirst([...unsaved, ...saved]);
}

/** All unsaved requests that are stored, newest first. */
export function readUnsaved(uid: string, signal: AbortSignal): Promise<ListedRequest[]> {
  return readStored('listUnsaved', uid, undefined, { signal });
}

function readStored(
  list: 'listSaved' | 'listUnsaved',
  uid: string,
  method: string | undefined,
  options: ReadOptions,
): Promise<ListedRequest[]> {
  const page = (before: string | undefined) =>
    client.callWithHeaders(list, { params: { uid }, query: { limit: PAGE, before, method } }, options.signal);
  return readPages(page, options);
}

async function readPages(
  read: (before: string | undefined) => Promise<Page>,
  { onProgress, keep = slimRow }: ReadOptions,
): Promise<ListedRequest[]> {
  const rows: ListedRequest[] = [];
  let before: string | undefined;
  do {
    const page = await read(before);
    rows.push(...page.data.filter((row) => !isHidden(row)).flatMap((row) => keep(row) ?? []));
    onProgress?.(rows.length);
    before = page.nextBefore;
  } while (before !== undefined);
  return rows;
}
