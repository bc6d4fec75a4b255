import { z } from 'zod';
import { parseJson } from '@creel/contract';

/** Slack's has about 140 bytes. Longer bodies, such as those of events, are not searched. */
const MAX_BYTES = 512;
const MARK = '"url_verification"';

/** ASCII without quotes and angle brackets, so nothing that a stranger writes is repeated in the response. */
const verificationSchema = z.object({
  type: z.literal('url_verification'),
  challenge: z.string().regex(/^[\w.~+/=-]+$/),
});

/**
 * The value that Slack expects in the response before it accepts a URL for events; `undefined` for other requests.
 * https://api.slack.com/events/url_verification
 */
export function slackChallenge(method: string, body: Buffer | null): string | undefined {
  if (method !== 'POST' || body === null || body.length > MAX_BYTES || !body.includes(MARK)) return undefined;
  return verificationSchema.safeParse(parseJson(body.toString())).data?.challenge;
}
