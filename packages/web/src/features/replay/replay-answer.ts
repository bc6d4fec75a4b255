import { MAX_REPLAY_ANSWER_BYTES, targetUrlSchema } from '@creel/contract';
import type { ReplayAnswer } from '@creel/contract';
import { headerValues } from '../../bodies/response.ts';

/** The target of a redirect. */
interface Redirect {
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
  const [location] = headerValues(answer, 'location');
  if (location === undefined) return undefined;
  const url = URL.canParse(location, sentTo) ? new URL(location, sentTo).href : '';
  return { location, url: targetUrlSchema.safeParse(url).success ? url : undefined };
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
