import { readWholeBody, readWholeRequest } from '../../../api/body-queries.ts';
import type { ListedRequest } from '../../../api/request-list.ts';
import { sendable } from '../sendable.ts';
import type { SnippetName } from '../snippet-names.ts';

// Reads a whole request for copying. The code that writes snippets is loaded on demand.

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
