import { bodyBytesOf, MAX_REPLAY_RESPONSE_BYTES, targetUrlSchema } from '@creel/contract';
import type { ReplayAnswer } from '@creel/contract';
import { MAX_DECODED_BYTES } from './decode-body.ts';
import type { BodySource } from './view-body.ts';

/** `bodyTruncated` is true if `body` is only its beginning. */
export type ReceivedResponse = Pick<ReplayAnswer, 'headers' | 'body' | 'bodyEncoding' | 'bodyTruncated'>;

/** All values of a header. `name` is in lower case. */
function headerValues({ headers }: Pick<ReceivedResponse, 'headers'>, name: string): string[] {
  return headers.filter(({ key }) => key.toLowerCase() === name).map(({ value }) => value);
}

/** The response body as a source for the body views. */
export function responseSource(response: ReceivedResponse): BodySource {
  return {
    bytes: bodyBytesOf(response),
    complete: !response.bodyTruncated,
    contentEncoding: headerValues(response, 'content-encoding').join(', '),
    contentType: headerValues(response, 'content-type')[0] ?? null,
    limit: MAX_DECODED_BYTES,
  };
}

/**
 * The `Location` of a 3xx response to a replay sent to `sentTo` (RFC 9110, section 10.2.2). Redirects are never
 * followed.
 */
export function redirectOf(answer: Pick<ReplayAnswer, 'status' | 'headers'>, sentTo: string) {
  if (answer.status < 300 || answer.status > 399) return undefined;
  const [location] = headerValues(answer, 'location');
  if (location === undefined) return undefined;
  const url = URL.canParse(location, sentTo) ? new URL(location, sentTo).href : '';
  return {
    /** The header as the target sent it. */
    location,
    /** The absolute URL that a replay can use; `undefined` if the header is not a valid URL. */
    url: targetUrlSchema.safeParse(url).success ? url : undefined,
  };
}

/** Bytes. A response that was cut at the maximum may end this much earlier, at the last whole character. */
const LONGEST_CHARACTER = 4;

/** Why the body is incomplete; `undefined` if it is complete. `size` is the number of received bytes. */
export function truncationNote(
  { bodyTruncated }: Pick<ReplayAnswer, 'bodyTruncated'>,
  size: number,
): string | undefined {
  if (!bodyTruncated) return undefined;
  if (size > MAX_REPLAY_RESPONSE_BYTES - LONGEST_CHARACTER) return 'Cut at 1 MiB: the destination sent more.';
  return 'The destination stopped sending or took too long. This is what had arrived.';
}
