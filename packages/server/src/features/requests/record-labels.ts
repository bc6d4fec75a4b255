import { LABEL_BODY_BYTES, eventType, sourceLabel } from '@creel/contract';
import type { RawHeaders } from '@creel/contract';

/**
 * The sender and event type of a request, from its headers and the first 16 KiB of its body, so that lists and searches
 * agree.
 */
export class RecordLabels {
  readonly #rawHeaders: RawHeaders;
  readonly #bodyText: string;

  /** `body` may be truncated to any length from `LABEL_BODY_BYTES` on. */
  constructor(rawHeaders: RawHeaders, bodyIsText: boolean, body: Uint8Array | null) {
    this.#rawHeaders = rawHeaders;
    this.#bodyText = body === null || !bodyIsText ? '' : textOf(body.subarray(0, LABEL_BODY_BYTES));
  }

  get source(): string {
    return sourceLabel(this.#rawHeaders, this.#bodyText);
  }

  get eventType(): string | null {
    return eventType(this.#rawHeaders, this.#bodyText);
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
}
