import { bodyBytesOf, firstHeader, targetOf, queryPairs } from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';
import { Zip, ZipPassThrough } from 'fflate';
import { latin1Bytes, toBase64 } from '../../../bodies/encoding.ts';
import { sendable } from '../sendable.ts';
import type { Sendable } from '../sendable.ts';

/** The formats, which are also the extensions of the files, with their media types. */
export const EXPORT_FORMATS = {
  har: 'application/json',
  jsonl: 'application/x-ndjson',
  zip: 'application/zip',
} as const;
export type ExportFormat = keyof typeof EXPORT_FORMATS;

/** The content of an export file. The requests have whole bodies. */
export function exportFile(
  format: ExportFormat,
  requests: readonly CapturedRequest[],
  captureUrl: string,
): readonly BlobPart[] {
  if (format === 'jsonl') return requests.map((request) => `${JSON.stringify(request)}\n`);
  return format === 'zip' ? zipOf(requests, captureUrl) : [toHar(requests, captureUrl)];
}

/** One file per request. Not compressed, because a fixture is rarely large and compressing would block the page. */
function zipOf(requests: readonly CapturedRequest[], captureUrl: string): Uint8Array<ArrayBuffer>[] {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const zip = new Zip((error, part) => {
    if (error !== null) throw error;
    parts.push(new Uint8Array(part));
  });
  for (const request of requests) {
    const file = new ZipPassThrough(fixtureName(request));
    file.mtime = request.timestamp;
    zip.add(file);
    file.push(rawMessage(request, captureUrl), true);
  }
  zip.end();
  return parts;
}

/** Characters of the path in the name of a fixture. */
const MAX_NAME = 60;

/** `000012-POST-orders-create.http`: sorted by name, fixtures are in the order of capture. */
export function fixtureName({ index, method, path }: Pick<CapturedRequest, 'index' | 'method' | 'path'>): string {
  const words = path
    .replaceAll(/[^A-Za-z0-9._]+/g, '-')
    .replaceAll(/^[-.]+|-+$/g, '')
    .slice(0, MAX_NAME);
  const name = [String(index).padStart(6, '0'), method.replaceAll(/[^A-Za-z]/g, ''), words];
  return `${name.filter((part) => part !== '').join('-')}.http`;
}

/**
 * The request as bytes that can be written to a connection: headers as received, and the exact body. The body is
 * stored without its transfer coding, so `Content-Length` replaces `Transfer-Encoding` (RFC 9112, section 6.3).
 */
export function rawMessage(request: CapturedRequest, captureUrl: string): Uint8Array<ArrayBuffer> {
  const { method, rawHeaders } = request;
  const body = bodyBytesOf(request);
  const length = ['Content-Length', String(body.length)] as const;
  const isCoded = firstHeader(rawHeaders, 'transfer-encoding') !== undefined;
  const headers = rawHeaders.flatMap(([name, value]) => {
    const lower = name.toLowerCase();
    if (lower === 'transfer-encoding') return [length];
    return isCoded && (lower === 'content-length' || lower === 'trailer') ? [] : [[name, value] as const];
  });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  // Heads are kept with one character per byte.
  const head = latin1Bytes(`${method} ${new URL(captureUrl).pathname}${targetOf(request)} HTTP/1.1\r\n${lines}\r\n`);
  const message = new Uint8Array(head.length + body.length);
  message.set(head);
  message.set(body, head.length);
  return message;
}

/** Requests as an HTTP Archive 1.2. The response of each entry is the one that the server sends to every capture. */
export function toHar(requests: readonly CapturedRequest[], captureUrl: string): string {
  const log = {
    version: '1.2',
    creator: { name: 'Creel', version: '1' },
    pages: [],
    entries: requests.map((request) => entryOf(request, captureUrl)),
  };
  return JSON.stringify({ log }, null, 2);
}

function entryOf(request: CapturedRequest, captureUrl: string) {
  const sent = sendable(request, captureUrl, bodyBytesOf(request));
  const answer = '{"ok":true}';
  return {
    startedDateTime: request.timestamp,
    time: 0,
    clientIPAddress: request.sourceIp,
    request: {
      method: request.method,
      url: sent.url,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: request.rawHeaders.map(([name, value]) => ({ name, value })),
      queryString: queryPairs(request).map(([name, value]) => ({ name, value })),
      ...(sent.bytes.length === 0 ? {} : { postData: postData(request, sent) }),
      headersSize: -1,
      bodySize: sent.bytes.length,
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
