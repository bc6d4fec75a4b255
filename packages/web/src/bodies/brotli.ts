import { BrotliDecompress } from 'brotli/dec/decode.js';

/** Thrown into the decoder to end it. */
class LimitReached extends Error {
  override readonly name = 'LimitReached';
}

/** Decodes brotli (RFC 7932), at most `limit` bytes. `cut`: there are more. @throws Error if the bytes are not valid */
export function unbrotli(bytes: Uint8Array, limit: number): { bytes: Uint8Array<ArrayBuffer>; cut: boolean } {
  const decoded = new Uint8Array(limit);
  let length = 0;
  let at = 0;
  const input = {
    read(into: Uint8Array, start: number, count: number): number {
      const part = bytes.subarray(at, at + count);
      into.set(part, start);
      at += part.length;
      return part.length;
    },
  };
  const output = {
    // The decoder enlarges a buffer that is too small, without a limit.
    buffer: { length: Infinity },
    write(window: Uint8Array, count: number): void {
      decoded.set(window.subarray(0, Math.min(count, limit - length)), length);
      length += count;
      if (length > limit) throw new LimitReached();
    },
  };
  try {
    BrotliDecompress(input, output);
  } catch (error) {
    if (!(error instanceof LimitReached)) throw error;
  }
  return { bytes: decoded.slice(0, length), cut: length > limit };
}
