import type { CapturedRequest } from '@creel/contract';
import { readByAnyId, readWholeBody, readWholeRequest } from '../../api/body-queries.ts';
import { client } from '../../api/client.ts';
import { download } from '../../ui/copy.tsx';
import type { ListedRequest } from '../../api/request-list.ts';
import type { ExportFormat } from './bulk/export-files.ts';
import { runEach } from './bulk/run-each.ts';
import type { RunEachOptions } from './bulk/run-each.ts';
import { sendable } from './sendable.ts';
import type { SnippetName } from './sendable.ts';

/** The request with its headers and its whole body. Loads them if the list has only a part. */
async function readExact(uid: string, listed: ListedRequest, signal?: AbortSignal): Promise<CapturedRequest> {
  if (listed.slim === undefined && !listed.bodyTruncated) return listed;
  return readByAnyId(uid, listed, (id) => client.call('getRequest', { params: { uid, id } }, signal));
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
  const read = new Map<number, CapturedRequest>();
  const { failed } = await runEach(
    inOrder,
    async (request) => void read.set(request.index, await readExact(uid, request, options.signal)),
    { ...options, isFatal: () => true },
  );
  if (options.signal?.aborted === true) return;
  const [failure] = failed;
  if (failure !== undefined) throw failure.error;
  const requests = inOrder.flatMap(({ index }) => read.get(index) ?? []);
  const { extension, type } = EXPORT_FORMATS[format];
  const [only] = requests;
  const name = requests.length === 1 && only !== undefined ? `request-${only.index}` : `requests-${uid.slice(0, 8)}`;
  download(exportFile(format, requests, captureUrl), `${name}.${extension}`, type);
}

// Reads a whole request for copying. The code that writes snippets is loaded on demand.

/** A captured request as a snippet that sends it again. */
export async function snippetOf(
  name: SnippetName,
  uid: string,
  request: ListedRequest,
  captureUrl: string,
): Promise<string> {
  const [{ WRITERS }, bytes, whole] = await Promise.all([
    import('./snippets.ts'),
    readWholeBody(uid, request),
    readWholeRequest(uid, request),
  ]);
  return WRITERS[name](sendable(whole, captureUrl, bytes));
}
