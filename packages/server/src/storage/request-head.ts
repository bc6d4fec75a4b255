import type { RawHeaders } from '@creel/contract';

/** Everything of a captured request but its method and its body, as it stood on the wire. */
export interface RequestHead {
  /** What follows `/h/{uid}` in the request target, with the query, exactly as sent; may be empty. */
  readonly target: string;
  readonly sourceIp: string;
  /** Whether the body's bytes are valid UTF-8: decided once, over all of them, so that a preview never disagrees with the whole. */
  readonly bodyIsText: boolean;
  readonly rawHeaders: RawHeaders;
}

/**
 * A head is stored as lines of Latin-1 text: target, address, `text` or `bytes`, then name and value by turns. No part of an HTTP
 * head can hold a line feed (the parser refuses it), so nothing is escaped; Latin-1 is how Node reads header bytes, so the column
 * holds the bytes of the wire. Joining lines costs a quarter of `JSON.stringify`, on the path where every microsecond counts.
 */
export function encodeHead(target: string, sourceIp: string, bodyIsText: boolean, flatHeaders: readonly string[]): string {
  return target + '\n' + sourceIp + (bodyIsText ? '\ntext\n' : '\nbytes\n') + flatHeaders.join('\n');
}

export function decodeHead(bytes: Uint8Array): RequestHead {
  const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1').split('\n');
  const rawHeaders: [string, string][] = [];
  for (let line = 3; line + 1 < lines.length; line += 2) rawHeaders.push([lines[line] ?? '', lines[line + 1] ?? '']);
  return { target: lines[0] ?? '', sourceIp: lines[1] ?? '', bodyIsText: lines[2] === 'text', rawHeaders };
}
