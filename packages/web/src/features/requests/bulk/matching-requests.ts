import { client } from '../../../api/client.ts';
import { slimRow } from '../../../api/limit-requests.ts';
import { newestFirst } from '../../../api/merge-requests.ts';
import { isHidden } from '../../../api/request-list.ts';
import type { ListedRequest } from '../../../api/request-list.ts';

const PAGE = 500;

/** What the list shows. */
export interface ListFilter {
  readonly method: string | undefined;
  /** A query, or empty. */
  readonly find: string;
}

interface ReadOptions {
  readonly signal: AbortSignal;
  /** Called after each page with the number of requests so far. */
  readonly onProgress: (count: number) => void;
}

interface Page {
  readonly data: readonly ListedRequest[];
  /** URL of the next page. */
  readonly next: string | undefined;
}

/**
 * All stored requests that match the filter of the list, newest first, without bodies and headers. Bulk actions load
 * those again, so that 10,000 requests fit into memory.
 */
export async function readMatching(uid: string, filter: ListFilter, options: ReadOptions): Promise<ListedRequest[]> {
  if (filter.find.trim() !== '') return newestFirst(await readSearch(uid, filter, options));
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

function readSearch(uid: string, { method, find }: ListFilter, options: ReadOptions): Promise<ListedRequest[]> {
  // Without parentheses, OR in the query would bind looser than the method.
  const q = method === undefined ? find : `method:${method} (${find})`;
  return readPages(
    (before) => client.callWithHeaders('search', { query: { q, endpoint: uid, limit: PAGE, before } }, options.signal),
    options,
  );
}

async function readPages(
  read: (before: string | undefined) => Promise<Page>,
  { onProgress }: ReadOptions,
): Promise<ListedRequest[]> {
  const rows: ListedRequest[] = [];
  let before: string | undefined;
  do {
    const page = await read(before);
    rows.push(...page.data.filter((row) => !isHidden(row)).map(slimRow));
    onProgress(rows.length);
    before =
      page.next === undefined
        ? undefined
        : (new URL(page.next, location.origin).searchParams.get('before') ?? undefined);
  } while (before !== undefined);
  return rows;
}
