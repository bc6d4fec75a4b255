import { endToEndHeaders, targetOf } from '@creel/contract';
import type { CapturedRequest, RawHeaders } from '@creel/contract';
import { textOf } from '../../bodies/body-bytes.ts';

/** A captured request in the form in which another program can send it again. */
export interface Sendable {
  readonly method: string;
  /** Capture URL, path and query, as they were sent. */
  readonly url: string;
  /** In the case, order and number in which they came, without those that belong to the connection. */
  readonly headers: RawHeaders;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The body as text, where it can stand in a program's text: valid UTF-8 without NUL. */
  readonly text: string | undefined;
}

/** `captureUrl` is the endpoint's; `bytes` the whole body. */
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

/** True where a header of that lower-case name is sent. */
export function hasHeader(headers: RawHeaders, name: string): boolean {
  return headers.some(([given]) => given.toLowerCase() === name);
}
