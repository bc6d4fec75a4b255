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
 * A head is stored as lines of Latin-1 text: `text` or `bytes` with the address, target, then name and value by turns. No part of an
 * HTTP head can hold a line feed (the parser refuses it), so nothing is escaped; Latin-1 is how Node reads header bytes, so the column
 * holds the bytes of the wire. Joining lines costs a quarter of `JSON.stringify`, on the path where every microsecond counts.
 * What the server adds is the first line alone, so that a search begins behind it.
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
