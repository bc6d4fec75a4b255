import type { BodyEncoding, HeaderPair } from '@creel/contract';
import { bodyBytes } from './body-bytes.ts';
import { MAX_DECODED_BYTES } from './decode-body.ts';
import type { BodySource } from './view-body.ts';

/** The response of a destination. */
export interface ReceivedResponse {
  /** As received, with order and repeats. */
  readonly headers: readonly HeaderPair[];
  readonly body: string | null;
  readonly bodyEncoding: BodyEncoding;
  /** True if `body` is only the beginning of the body. */
  readonly bodyTruncated: boolean;
}

/** All values of a header. `name` is in lower case. */
export function headerValues({ headers }: Pick<ReceivedResponse, 'headers'>, name: string): string[] {
  return headers.filter(({ key }) => key.toLowerCase() === name).map(({ value }) => value);
}

/** The bytes of the response body. */
export function responseBytes({
  body,
  bodyEncoding,
}: Pick<ReceivedResponse, 'body' | 'bodyEncoding'>): Uint8Array<ArrayBuffer> {
  return bodyBytes(body, bodyEncoding);
}

/** The response body as a source for the body views. */
export function responseSource(response: ReceivedResponse): BodySource {
  return {
    bytes: responseBytes(response),
    complete: !response.bodyTruncated,
    contentEncoding: headerValues(response, 'content-encoding').join(', '),
    contentType: headerValues(response, 'content-type')[0] ?? null,
    limit: MAX_DECODED_BYTES,
  };
}
