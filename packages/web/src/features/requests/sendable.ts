import { endToEndHeaders, targetOf, textOf } from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';

export type Sendable = ReturnType<typeof sendable>;

/** A captured request in a form that other programs can send. `captureUrl` is that of the endpoint; `bytes` is the whole body. */
export function sendable(request: CapturedRequest, captureUrl: string, bytes: Uint8Array<ArrayBuffer>) {
  const text = textOf(bytes);
  return {
    method: request.method,
    /** Capture URL with path and query as sent. */
    url: captureUrl + targetOf(request),
    /** In their original case, order and number, without connection headers. */
    headers: endToEndHeaders(request.rawHeaders),
    bytes,
    /** The body as text, if source code can contain it: valid UTF-8 without NUL. */
    text: text?.includes('\0') === true ? undefined : text,
  };
}
