import type { CustomFetchOptions } from 'openid-client';

/** Milliseconds that the provider has for one answer, and bytes that it may hold. */
const MOST_MS = 10_000;
const MOST_BYTES = 1024 * 1024;

/** The provider's answer was longer than any that it could need. */
export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong';
}

/**
 * `fetch` for the sign-in provider: its address comes from the operator and from its own metadata, never from a visitor. Bounded in
 * time and size all the same; redirects are not followed.
 */
export async function providerFetch(url: string, init: CustomFetchOptions): Promise<globalThis.Response> {
  const tooSlow = AbortSignal.timeout(MOST_MS);
  const signal = init.signal ? AbortSignal.any([init.signal, tooSlow]) : tooSlow;
  const answer = await fetch(url, { ...init, body: init.body ?? null, signal, redirect: 'manual' });
  const body = await readBounded(answer);
  const { status, statusText, headers } = answer;
  return new Response(mayHaveBody(status) ? body : null, { status, statusText, headers });
}

/** Statuses that a `Response` can be made with, but not with a body. */
function mayHaveBody(status: number): boolean {
  return status !== 204 && status !== 205 && status !== 304;
}

async function readBounded(answer: globalThis.Response): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of answer.body ?? []) {
    bytes += piece.byteLength;
    // Leaving the loop cancels the stream.
    if (bytes > MOST_BYTES) throw new AnswerTooLong('The sign-in provider sent a longer answer than it could need.');
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
