/** Reads the whole body of a response. @throws Error for one over `maxBytes`, whose rest is not read */
export async function readBounded(response: Response, maxBytes: number): Promise<Response> {
  // Some statuses can't have a body, not even an empty one.
  if (response.body === null) return response;
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body) {
    bytes += piece.byteLength;
    // Leaving the loop cancels the stream.
    if (bytes > maxBytes) throw new Error(`The response is longer than ${maxBytes} bytes.`);
    pieces.push(piece);
  }
  return new Response(Buffer.concat(pieces), response);
}
