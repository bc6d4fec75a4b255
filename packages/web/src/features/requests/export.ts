import type { CapturedRequest } from '@creel/contract';
import { withRequestId } from '../../api/body-queries.ts';
import { client } from '../../api/client.ts';
import { download } from '../../ui/download.ts';
import { ALL_REQUESTS } from '../../api/request-filter.ts';
import type { ListedRequest } from '../../api/request-list.ts';
import type { ExportFormat } from './bulk/export-files.ts';
import { readMatching } from './bulk/matching-requests.ts';
import { runEach } from './bulk/run-each.ts';
import type { RunEachOptions } from './bulk/run-each.ts';

/** The request with its headers and its whole body. Loads them if the list has only a part. */
async function readExact(uid: string, listed: ListedRequest, signal?: AbortSignal): Promise<CapturedRequest> {
  if (listed.slim === undefined && !listed.bodyTruncated) return listed;
  return withRequestId(uid, listed, async (id) => {
    // All requests of a file have the same fields, and lists have no signature.
    const { signature: _, ...request } = await client.call('getRequest', { params: { uid, id } }, signal);
    return request;
  });
}

/** From this many requests on, reading all that are stored in pages is faster than each of these by itself. */
const READ_PAGES_FROM = 100;

/** The requests whose body a page of the list has whole, by index. Others are large, or have just changed. */
async function readPagesOf(
  uid: string,
  listed: readonly ListedRequest[],
  { signal, onProgress }: Pick<RunEachOptions, 'signal' | 'onProgress'>,
): Promise<Map<number, CapturedRequest>> {
  const wanted = new Set(listed.map(({ index }) => index));
  const keep = (request: CapturedRequest): CapturedRequest | undefined =>
    wanted.has(request.index) && !request.bodyTruncated ? request : undefined;
  const found = await readMatching(uid, ALL_REQUESTS, { signal, onProgress, keep });
  return new Map(found.map((request) => [request.index, request]));
}

/**
 * Downloads requests as one file, in the order of capture. @throws the first error if a request can't be read: a file
 * with missing requests would look complete
 */
export async function exportRequests(
  format: ExportFormat,
  uid: string,
  captureUrl: string,
  listed: readonly ListedRequest[],
  options: Pick<RunEachOptions, 'signal' | 'onProgress'> = {},
): Promise<void> {
  const { EXPORT_FORMATS, exportFile } = await import('./bulk/export-files.ts');
  const inOrder = listed.toSorted((a, b) => a.index - b.index);
  const read =
    listed.length < READ_PAGES_FROM ? new Map<number, CapturedRequest>() : await readPagesOf(uid, listed, options);
  const { failed } = await runEach(
    inOrder.filter(({ index }) => !read.has(index)),
    async (request) => void read.set(request.index, await readExact(uid, request, options.signal)),
    { ...options, isFatal: () => true, onProgress: () => options.onProgress?.(read.size) },
  );
  if (options.signal?.aborted === true) return;
  const [failure] = failed;
  if (failure !== undefined) throw failure.error;
  const requests = inOrder.flatMap(({ index }) => read.get(index) ?? []);
  const [only] = requests;
  const name = requests.length === 1 && only !== undefined ? `request-${only.index}` : `requests-${uid.slice(0, 8)}`;
  download(exportFile(format, requests, captureUrl), `${name}.${format}`, EXPORT_FORMATS[format]);
}
