import { queryPairs } from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';
import { toBase64 } from '../../bodies/encoding.ts';
import type { Sendable } from './sendable.ts';

/** A captured request with the data of its HAR entry. */
interface HarInput {
  readonly request: CapturedRequest;
  readonly sendable: Sendable;
}

/** Requests as an HTTP Archive 1.2. The response of each entry is the one that the server sends to every capture. */
export function toHar(inputs: readonly HarInput[]): string {
  const log = {
    version: '1.2',
    creator: { name: 'Creel', version: '1' },
    pages: [],
    entries: inputs.map(entryOf),
  };
  return JSON.stringify({ log }, null, 2);
}

function entryOf({ request, sendable }: HarInput) {
  const answer = '{"ok":true}';
  return {
    startedDateTime: request.timestamp,
    time: 0,
    clientIPAddress: request.sourceIp,
    request: {
      method: request.method,
      url: sendable.url,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: request.rawHeaders.map(([name, value]) => ({ name, value })),
      queryString: queryPairs(request).map(([name, value]) => ({ name, value })),
      ...(sendable.bytes.length === 0 ? {} : { postData: postData(request, sendable) }),
      headersSize: -1,
      bodySize: sendable.bytes.length,
    },
    response: {
      status: 200,
      statusText: 'OK',
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: [
        { name: 'content-type', value: 'application/json' },
        { name: 'x-creel-request', value: String(request.index) },
      ],
      content: { size: answer.length, mimeType: 'application/json', text: answer },
      redirectURL: '',
      headersSize: -1,
      bodySize: answer.length,
    },
    cache: {},
    timings: { send: 0, wait: 0, receive: 0 },
  };
}

/** HAR has no encoding for request bodies. Readers accept the `encoding` that it defines for responses. */
function postData(request: CapturedRequest, { bytes, text }: Sendable) {
  const mimeType = request.contentType ?? 'application/octet-stream';
  return text === undefined ? { mimeType, text: toBase64(bytes), encoding: 'base64' } : { mimeType, text };
}
