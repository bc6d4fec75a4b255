import { MAX_REPLAY_ANSWER_BYTES, targetUrlSchema } from '@creel/contract';
import type { ReplayAnswer } from '@creel/contract';
import { bodyBytes } from '../../bodies/body-bytes.ts';
import { MAX_DECODED_BYTES } from '../../bodies/decode-body.ts';
import type { BodySource } from '../../bodies/view-body.ts';

export type StatusTone = 'success' | 'warning' | 'destructive';

/** Green for 2xx, red for 400 and above, amber otherwise (spec 2). */
export function statusTone(status: number): StatusTone {
  if (status >= 400) return 'destructive';
  return status >= 200 && status < 300 ? 'success' : 'warning';
}

/** `302 Found`; the number alone where the target named none. */
export function statusLine({ status, statusText }: Pick<ReplayAnswer, 'status' | 'statusText'>): string {
  return `${status} ${statusText}`.trim();
}

/** Milliseconds as a person reads them: `34 ms`, `1.24 s`. */
export function formatDuration(ms: number): string {
  return ms < 999.5 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
}

type Headed = Pick<ReplayAnswer, 'headers'>;

function valuesOf({ headers }: Headed, name: string): string[] {
  return headers.filter(({ key }) => key.toLowerCase() === name).map(({ value }) => value);
}

/** Where a redirect leads. */
export interface Redirect {
  /** As the target wrote it. */
  readonly location: string;
  /** The same as a URL that a replay can be sent to; `undefined` where it is none. */
  readonly url: string | undefined;
}

/** The `Location` of a 3xx answer to a replay that went to `sentTo` (RFC 9110 10.2.2); none is followed (contract 4). */
export function redirectOf(answer: Pick<ReplayAnswer, 'status' | 'headers'>, sentTo: string): Redirect | undefined {
  if (answer.status < 300 || answer.status > 399) return undefined;
  const [location] = valuesOf(answer, 'location');
  if (location === undefined) return undefined;
  const url = URL.canParse(location, sentTo) ? new URL(location, sentTo).href : '';
  return { location, url: targetUrlSchema.safeParse(url).success ? url : undefined };
}

/** The answer's bytes. */
export function answerBytes({ body, bodyEncoding }: ReplayAnswer): Uint8Array<ArrayBuffer> {
  return bodyBytes(body, bodyEncoding);
}

/** The answer's body, to be laid out like a captured one. */
export function answerSource(answer: ReplayAnswer): BodySource {
  return {
    bytes: answerBytes(answer),
    complete: !answer.bodyTruncated,
    contentEncoding: valuesOf(answer, 'content-encoding').join(', '),
    contentType: valuesOf(answer, 'content-type')[0] ?? null,
    limit: MAX_DECODED_BYTES,
  };
}

/** Bytes of UTF-8; a text that was cut through a character ends before it. */
const LONGEST_CHARACTER = 4;

/** Why the body is not all there is; `undefined` where it is. `size` is what came of it. */
export function cutSentence({ bodyTruncated }: Pick<ReplayAnswer, 'bodyTruncated'>, size: number): string | undefined {
  if (!bodyTruncated) return undefined;
  if (size > MAX_REPLAY_ANSWER_BYTES - LONGEST_CHARACTER) return 'Cut at 1 MiB: the target sent more.';
  return 'The target broke off, or took too long: this is what came until then.';
}
