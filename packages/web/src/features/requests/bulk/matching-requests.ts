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
  readonly onProgress: (count: number) => void;
  /** What is kept of a request; by default all but its body and headers. `undefined` leaves it out. */
  readonly keep?: (request: CapturedRequest) => ListedRequest | undefined;
}

interface Page {
  readonly data: readonly ListedRequest[];
  readonly nextBefore: string | undefined;
}

/**
 * All stored requests that match the filter of the list, newest first. By default without bodies and headers, so that
 * 10,000 selected requests fit into memory.
 */
export async function readMatching(uid: string, filter: RequestFilter, options: ReadOptions): Promise<ListedRequest[]> {
  if (filter.query !== undefined) return newestFirst(await readSearch(uid, filter, options));
  const unsaved = await readUnsaved(uid, filter.method, options);
  const saved = await readPages(
    (before) =>
      client.callWithHeaders(
        'listSaved',
        { params: { uid }, query: { limit: PAGE, before, method: filter.method } },
        options.signal,
      ),
    { ...options, onProgress: (count) => options.onProgress(unsaved.length + count) },
  );
  return newestFirst([...unsaved, ...saved]);
}

/** All unsaved requests that are stored, newest first. */
export function readUnsaved(uid: string, method: string | undefined, options: ReadOptions): Promise<ListedRequest[]> {
  return readPages(
    (before) =>
      client.callWithHeaders(
        'listUnsaved',
        { params: { uid }, query: { limit: PAGE, before, method } },
        options.signal,
      ),
    options,
  );
}

function readSearch(uid: string, filter: RequestFilter, options: ReadOptions): Promise<ListedRequest[]> {
  const q = searchText(filter);
  return readPages(
    (before) => client.callWithHeaders('search', { query: { q, endpoint: uid, limit: PAGE, before } }, options.signal),
    options,
  );
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
    onProgress(rows.length);
    before = page.nextBefore;
  } while (before !== undefined);
  return rows;
}
