import { MAX_REPLAY_ANSWER_BYTES, targetUrlSchema } from '@creel/contract';
import type { ReplayAnswer } from '@creel/contract';
import { bodyBytes } from '../../bodies/body-bytes.ts';
import { MAX_DECODED_BYTES } from '../../bodies/decode-body.ts';
import type { BodySource } from '../../bodies/view-body.ts';

export type StatusTone = 'success' | 'warning' | 'destructive';

/** Green for 2xx, red for 400 and above, amber otherwise. */
export function statusTone(status: number): StatusTone {
  if (status >= 400) return 'destructive';
  return status >= 200 && status < 300 ? 'success' : 'warning';
}

/** `302 Found`; only the number if the destination sent no reason phrase. */
export function statusLine({ status, statusText }: Pick<ReplayAnswer, 'status' | 'statusText'>): string {
  return `${status} ${statusText}`.trim();
}

/** A duration for display: `34 ms`, `1.24 s`. */
export function formatDuration(ms: number): string {
  return ms < 999.5 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
}

type Headed = Pick<ReplayAnswer, 'headers'>;

function valuesOf({ headers }: Headed, name: string): string[] {
  return headers.filter(({ key }) => key.toLowerCase() === name).map(({ value }) => value);
}

/** The target of a redirect. */
export interface Redirect {
  /** The header as the destination sent it. */
  readonly location: string;
  /** The absolute URL that a replay can use; `undefined` if the header is not a valid URL. */
  readonly url: string | undefined;
}

/**
 * The `Location` of a 3xx response to a replay sent to `sentTo` (RFC 9110, section 10.2.2). Redirects are never
 * followed.
 */
export function redirectOf(answer: Pick<ReplayAnswer, 'status' | 'headers'>, sentTo: string): Redirect | undefined {
  if (answer.status < 300 || answer.status > 399) return undefined;
  const [location] = valuesOf(answer, 'location');
  if (location === undefined) return undefined;
  const url = URL.canParse(location, sentTo) ? new URL(location, sentTo).href : '';
  return { location, url: targetUrlSchema.safeParse(url).success ? url : undefined };
}

/** The bytes of the response body. */
export function answerBytes({ body, bodyEncoding }: ReplayAnswer): Uint8Array<ArrayBuffer> {
  return bodyBytes(body, bodyEncoding);
}

/** The response body as a source for the body views. */
export function answerSource(answer: ReplayAnswer): BodySource {
  return {
    bytes: answerBytes(answer),
    complete: !answer.bodyTruncated,
    contentEncoding: valuesOf(answer, 'content-encoding').join(', '),
    contentType: valuesOf(answer, 'content-type')[0] ?? null,
    limit: MAX_DECODED_BYTES,
  };
}

/** Decodes UTF-8. A text that ends within a character is cut before that character. */
const LONGEST_CHARACTER = 4;

/** Why the body is incomplete; `undefined` if it is complete. `size` is the number of received bytes. */
export function truncationNote(
  { bodyTruncated }: Pick<ReplayAnswer, 'bodyTruncated'>,
  size: number,
): string | undefined {
  if (!bodyTruncated) return undefined;
  if (size > MAX_REPLAY_ANSWER_BYTES - LONGEST_CHARACTER) return 'Cut at 1 MiB: the destination sent more.';
  return 'The destination stopped sending or took too long. This is what had arrived.';
}
