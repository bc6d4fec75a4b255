/** Bytes of a decoded body that are shown at most: a small body may unpack to gigabytes. */
export const MAX_DECODED_BYTES = 8 * 1024 * 1024;

/** How a body looks with its content coding (RFC 9110 8.4) taken off. */
export type Decoded =
  | { readonly outcome: 'none' }
  | {
      readonly outcome: 'decoded';
      readonly coding: string;
      readonly bytes: Uint8Array<ArrayBuffer>;
      readonly cut: boolean;
    }
  | { readonly outcome: 'failed'; readonly coding: string; readonly reason: string };

/** Takes brotli off, which browsers have no decoder for that pages may use. */
export type Unbrotli = (bytes: Uint8Array<ArrayBuffer>) => Promise<Uint8Array<ArrayBuffer>>;

const NAMES: Partial<Record<string, 'gzip' | 'deflate' | 'br'>> = {
  gzip: 'gzip',
  'x-gzip': 'gzip',
  deflate: 'deflate',
  br: 'br',
};

/** The codings that were put on, in that order; `identity` says nothing. */
export function codingsOf(contentEncoding: string | undefined): string[] {
  return (contentEncoding ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
}

/** Decodes a body for reading (contract 2: it is stored as it came). Never throws: what can't be decoded says why. */
export async function decodeBody(
  bytes: Uint8Array<ArrayBuffer>,
  contentEncoding: string | undefined,
  unbrotli: Unbrotli,
  limit = MAX_DECODED_BYTES,
): Promise<Decoded> {
  const codings = codingsOf(contentEncoding);
  if (codings.length === 0 || bytes.length === 0) return { outcome: 'none' };
  const coding = codings.join(', ');
  let current = bytes;
  let cut = false;
  for (const name of codings.toReversed()) {
    const known = NAMES[name];
    if (known === undefined) return { outcome: 'failed', coding, reason: `${name} can't be shown decoded here` };
    try {
      const step = known === 'br' ? cap(await unbrotli(current), limit) : await inflate(known, current, limit);
      current = step.bytes;
      cut ||= step.cut;
    } catch {
      return { outcome: 'failed', coding, reason: `The body is not valid ${name}` };
    }
  }
  return { outcome: 'decoded', coding, bytes: current, cut };
}

interface Step {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly cut: boolean;
}

function cap(bytes: Uint8Array<ArrayBuffer>, limit: number): Step {
  return { bytes: bytes.subarray(0, limit), cut: bytes.length > limit };
}

/** `deflate` is zlib by the standard and raw deflate from some senders (RFC 9110 8.4.1.2). */
async function inflate(name: 'gzip' | 'deflate', bytes: Uint8Array<ArrayBuffer>, limit: number): Promise<Step> {
  if (name === 'gzip') return unpack('gzip', bytes, limit);
  try {
    return await unpack('deflate', bytes, limit);
  } catch {
    return unpack('deflate-raw', bytes, limit);
  }
}

/** Unpacks piece by piece and stops at the limit, so that what is packed too well never unfolds in memory. */
async function unpack(format: CompressionFormat, bytes: Uint8Array<ArrayBuffer>, limit: number): Promise<Step> {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format)).getReader();
  const out = new Uint8Array(new ArrayBuffer(0, { maxByteLength: limit }));
  for (;;) {
    const { done, value } = await reader.read();
    // Copied: browsers take no resizable buffer for a Blob or a TextDecoder.
    if (done) return { bytes: out.slice(), cut: false };
    const room = limit - out.length;
    const at = out.length;
    out.buffer.resize(at + Math.min(room, value.length));
    out.set(value.subarray(0, room), at);
    if (value.length <= room) continue;
    await reader.cancel();
    return { bytes: out.slice(), cut: true };
  }
}
