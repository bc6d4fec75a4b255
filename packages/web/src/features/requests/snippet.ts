import { readWholeBody, readWholeRequest } from '../../api/body-queries.ts';
import type { ListedRequest } from '../../api/request-list.ts';
import { sendable } from './sendable.ts';
import { WRITERS } from './write-snippet.ts';

/** The snippet languages. */
export const SNIPPET_NAMES = {
  curl: 'cURL',
  fetch: 'fetch',
  httpie: 'HTTPie',
  python: 'Python',
  http: 'Raw HTTP',
} as const;
export type SnippetName = keyof typeof SNIPPET_NAMES;

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
