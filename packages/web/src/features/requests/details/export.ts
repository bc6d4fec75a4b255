import { readWholeBody, readWholeRequest } from '../../../api/body-queries.ts';
import type { ListedRequest } from '../../../api/request-list.ts';
import { sendable } from '../sendable.ts';
import type { SnippetName } from '../snippet-names.ts';
import { downloadBytes } from './download.ts';

// Reads a whole request for copying and downloading. The code that writes snippets and HAR files is loaded on demand.

/** A captured request as a snippet that sends it again. */
export async function snippetOf(
  name: SnippetName,
  uid: string,
  request: ListedRequest,
  captureUrl: string,
): Promise<string> {
  const [{ WRITERS }, bytes, whole] = await Promise.all([
    import('../snippets.ts'),
    readWholeBody(uid, request),
    readWholeRequest(uid, request),
  ]);
  return WRITERS[name](sendable(whole, captureUrl, bytes));
}

/** Requests as an HTTP Archive (HAR). */
export async function downloadHar(uid: string, captureUrl: string, requests: readonly ListedRequest[]): Promise<void> {
  const { toHar } = await import('../har.ts');
  const inputs = [];
  for (const listed of requests) {
    const request = await readWholeRequest(uid, listed);
    inputs.push({ request, sendable: sendable(request, captureUrl, await readWholeBody(uid, listed)) });
  }
  const name = requests.length === 1 ? `request-${requests[0]?.index}.har` : `requests-${uid.slice(0, 8)}.har`;
  downloadBytes(new TextEncoder().encode(toHar(inputs)), name, 'application/json');
}
