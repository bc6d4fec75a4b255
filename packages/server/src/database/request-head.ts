import { LABEL_BODY_BYTES } from '@creel/contract';
import type { RawHeaders } from '@creel/contract';

/** Everything of a captured request except method and body, as it was on the wire. */
export interface RequestHead {
  /** The part of the request target after `/h/{uid}`, with the query, exactly as sent; may be empty. */
  readonly target: string;
  readonly sourceIp: string;
  /** Whether the body is valid UTF-8. Decided once over the whole body, so that a preview never disagrees. */
  readonly bodyIsText: boolean;
  readonly rawHeaders: RawHeaders;
}

/**
 * Encodes a head as lines of Latin-1 text: `text` or `bytes` with the client address, the target, then names and values
 * in turn. The parser rejects line feeds in a head, so nothing is escaped. Node reads header bytes as Latin-1, so the
 * column holds the bytes of the wire. This costs a quarter of `JSON.stringify`. Only the first line is the server's
 * own, so a search starts after it.
 */
export function encodeHead(
  target: string,
  sourceIp: string,
  bodyIsText: boolean,
  flatHeaders: readonly string[],
): string {
  return (bodyIsText ? 'text ' : 'bytes ') + sourceIp + '\n' + target + '\n' + flatHeaders.join('\n');
}

export function decodeHead(bytes: Uint8Array): RequestHead {
  const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1').split('\n');
  const rawHeaders: [string, string][] = [];
  for (let line = 2; line + 1 < lines.length; line += 2) rawHeaders.push([lines[line] ?? '', lines[line + 1] ?? '']);
  const [kind = '', sourceIp = ''] = (lines[0] ?? '').split(' ');
  return { target: lines[1] ?? '', sourceIp, bodyIsText: kind === 'text', rawHeaders };
}

/**
 * The part of a body that decides the sender and the event type, so that lists and searches agree: the first 16 KiB of
 * a text. `body` may be truncated to any length from `LABEL_BODY_BYTES` on.
 */
export function labelText(bodyIsText: boolean, body: Uint8Array | null): string {
  if (body === null || !bodyIsText) return '';
  return Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, LABEL_BODY_BYTES)).toString('utf8');
}

interface Stored {
  /** The encoded text, one byte per character (request-head.ts), or its bytes. */
  readonly head: { readonly length: number };
  readonly body: { readonly length: number } | null;
}

/** Bytes of a stored request: its head and the loaded part of its body. */
export function storedBytes({ head, body }: Stored): number {
  return head.length + (body?.length ?? 0);
}
