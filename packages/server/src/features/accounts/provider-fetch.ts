import type { CustomFetchOptions } from 'openid-client';

/** Limits of one response from the provider, in milliseconds and bytes. */
const MAX_MS = 10_000;
const MAX_BYTES = 1024 * 1024;

/** The provider's response exceeds the size limit. */
class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong';
}

/**
 * `fetch` for the login provider. The URL comes from the operator or the provider's metadata, never from a user. Time
 * and size are limited, and redirects are not followed.
 */
export async function providerFetch(url: string, init: CustomFetchOptions): Promise<globalThis.Response> {
  const tooSlow = AbortSignal.timeout(MAX_MS);
  const signal = init.signal ? AbortSignal.any([init.signal, tooSlow]) : tooSlow;
  const answer = await fetch(url, { ...init, body: init.body ?? null, signal, redirect: 'manual' });
  const body = await readBounded(answer);
  const { status, statusText, headers } = answer;
  return new Response(mayHaveBody(status) ? body : null, { status, statusText, headers });
}

/** Statuses that can't have a body. */
function mayHaveBody(status: number): boolean {
  return status !== 204 && status !== 205 && status !== 304;
}

async function readBounded(answer: globalThis.Response): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of answer.body ?? []) {
    bytes += piece.byteLength;
    // Leaving the loop cancels the stream.
    if (bytes > MAX_BYTES) throw new AnswerTooLong('The sign-in provider sent a longer answer than it could need.');
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
