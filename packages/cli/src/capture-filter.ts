import {
  MAX_DECODED_BODY_BYTES,
  bodyBytesOf,
  firstHeader,
  matcherOf,
  parseQuery,
  searchableRequest,
  needsBody,
} from '@creel/contract';
import type { CapturedRequest, Client } from '@creel/contract';
import { readBody } from './stored-requests.ts';

type Format = ConstructorParameters<typeof DecompressionStream>[0];

const FORMATS: ReadonlyMap<string, Format> = new Map<string, Format>([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'brotli'],
]);

/** Returns a function that tests captures against a query. Without a query, all captures match. */
export function captureFilter(
  client: Client,
  uid: string,
  text: string | undefined,
): (request: CapturedRequest) => Promise<boolean> {
  const parsed = parseQuery(text ?? '');
  if (text === undefined || !parsed.ok) return async () => true;
  const readsBody = needsBody(parsed.query);
  return async (request) => {
    const stored = readsBody ? await readBody(client, uid, request) : undefined;
    // If the request was deleted meanwhile, the message still has the beginning of its body.
    const body = stored === undefined ? bodyBytesOf(request) : await decoded(request, stored);
    return matcherOf(parsed.query, Date.now())(searchableRequest(request, () => body));
  };
}

/** Removes the content coding, up to the length that searches examine. Returns the body unchanged if it can't be decoded. */
async function decoded(request: CapturedRequest, body: Uint8Array): Promise<Uint8Array> {
  const coding = firstHeader(request.rawHeaders, 'content-encoding')?.trim().toLowerCase() ?? '';
  const format = FORMATS.get(coding);
  if (format === undefined) return body;
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const piece of new Blob([Uint8Array.from(body)]).stream().pipeThrough(new DecompressionStream(format))) {
      pieces.push(piece);
      length += piece.length;
      if (length >= MAX_DECODED_BODY_BYTES) break;
    }
  } catch {
    return body;
  }
  return Buffer.concat(pieces).subarray(0, MAX_DECODED_BODY_BYTES);
}
