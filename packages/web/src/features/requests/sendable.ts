import { endToEndHeaders, targetOf, textOf } from '@creel/contract';
import type { CapturedRequest, RawHeaders } from '@creel/contract';

/** A captured request in a form that other programs can send. */
export interface Sendable {
  readonly method: string;
  /** Capture URL with path and query as sent. */
  readonly url: string;
  /** In their original case, order and number, without connection headers. */
  readonly headers: RawHeaders;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The body as text, if source code can contain it: valid UTF-8 without NUL. */
  readonly text: string | undefined;
}

/** `captureUrl` is that of the endpoint; `bytes` is the whole body. */
export function sendable(request: CapturedRequest, captureUrl: string, bytes: Uint8Array<ArrayBuffer>): Sendable {
  const text = textOf(bytes);
  return {
    method: request.method,
    url: captureUrl + targetOf(request),
    headers: endToEndHeaders(request.rawHeaders),
    bytes,
    text: text?.includes('\0') === true ? undefined : text,
  };
}
