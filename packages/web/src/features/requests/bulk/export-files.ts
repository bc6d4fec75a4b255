import { firstHeader, targetOf } from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';
import { Zip, ZipPassThrough } from 'fflate';
import { bodyBytes, latin1Bytes } from '../../../bodies/encoding.ts';
import { toHar } from '../har.ts';
import { sendable } from '../sendable.ts';

/** The formats of an export. */
export const EXPORT_FORMATS = {
  har: { extension: 'har', type: 'application/json' },
  jsonl: { extension: 'jsonl', type: 'application/x-ndjson' },
  zip: { extension: 'zip', type: 'application/zip' },
} as const;
export type ExportFormat = keyof typeof EXPORT_FORMATS;

/** The content of an export file. The requests have whole bodies. */
export function exportFile(
  format: ExportFormat,
  requests: readonly CapturedRequest[],
  captureUrl: string,
): readonly BlobPart[] {
  if (format === 'jsonl') return requests.map((request) => `${JSON.stringify(request)}\n`);
  if (format === 'zip') return zipOf(requests, captureUrl);
  const inputs = requests.map((request) => ({
    request,
    sendable: sendable(request, captureUrl, bodyBytes(request.body, request.bodyEncoding)),
  }));
  return [toHar(inputs)];
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
  const body = bodyBytes(request.body, request.bodyEncoding);
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
