import { readWholeBody, readWholeRequest } from '../../api/body-queries.ts';
import type { ListedRequest } from '../../api/request-list.ts';
import { sendable } from './sendable.ts';
import { WRITERS } from './write-snippet.ts';
import type { SnippetName } from './write-snippet.ts';

/** A captured request as a snippet that sends it again. */
export async function snippetOf(
  name: SnippetName,
  uid: string,
  request: ListedRequest,
  captureUrl: string,
): Promise<string> {
  const [bytes, whole] = await Promise.all([readWholeBody(uid, request), readWholeRequest(uid, request)]);
  return WRITERS[name](sendable(whole, captureUrl, bytes));
}
