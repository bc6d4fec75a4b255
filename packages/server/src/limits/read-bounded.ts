/** Reads a body of at most `maxBytes`. @throws Error for a longer one, whose rest is not read */
export async function readBounded(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.byteLength;
    // Leaving the loop cancels the stream.
    if (bytes > maxBytes) throw new Error(`The response is longer than ${maxBytes} bytes.`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
