import { freeBytes } from '../../http/body-buffer.ts';
import { MAX_JSON_GROWTH } from '../../http/large-answer.ts';
import { storedBytes, withShortBody } from '../../database/stored-request.ts';
import type { RequestRecord } from '../../database/stored-request.ts';
import { presentPreview } from '../requests/service.ts';

/** Bytes of heads and bodies per part of the message. A larger request is a part of its own. */
const PART_BYTES = 64 * 1024;
/**
 * Bytes of heads and bodies in total. Beyond it all bodies are truncated alike, to no less than `MIN_BODY_BYTES`. Heads
 * stay whole.
 */
const MAX_BYTES = 4 * 1024 * 1024;
const MIN_BODY_BYTES = 256;

interface InitPart {
  readonly text: string;
  readonly isLast: boolean;
}

/**
 * The text of an `init` message, in parts that are generated on demand in short steps. The text can have 30 MB, which a
 * viewer that does not read must not keep in memory. Bodies are freed when they are in the text: a flood of new viewers
 * would fragment the heap with them before V8 collects them.
 */
export class InitMessage {
  /** In reverse order. */
  readonly #parts: RequestRecord[][];
  readonly #onFailure: (error: unknown) => void;
  #bytes: number;
  #separator = '';
  /** Generated at once, because only then its size is known. */
  #first: InitPart | undefined;

  /** `records`: nothing else may read their bodies. */
  constructor(records: readonly RequestRecord[], onFailure: (error: unknown) => void) {
    const cut = cutBodies(records);
    this.#bytes = sum(cut, storedBytes);
    this.#parts = inParts(cut).toReversed();
    this.#onFailure = onFailure;
    this.#first = this.#generate('{"type":"init","data":[');
  }

  /** Bytes that the remaining parts hold, without the text of the first one. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Maximum bytes of the text of a remaining part. */
  get maxPartBytes(): number {
    // A header appears twice, with each `"` escaped: no more growth than a control character has.
    const others = MAX_JSON_GROWTH * Math.max(0, ...this.#parts.map((part) => sum(part, storedBytes)));
    return Math.max(others, Buffer.byteLength(this.#first?.text ?? ''));
  }

  /** The next part. Requests that can't be presented are omitted and logged. */
  next(): InitPart {
    const part = this.#first ?? this.#generate('');
    this.#first = undefined;
    return part;
  }

  /** Frees the bodies of the parts that will not be sent. */
  discard(): void {
    for (const { body } of this.#parts.splice(0).flat()) if (body !== null) freeBytes(body);
  }

  #generate(start: string): InitPart {
    const part = this.#parts.pop() ?? [];
    this.#bytes -= sum(part, storedBytes);
    const isLast = this.#parts.length === 0;
    return { text: start + part.map((record) => this.#present(record)).join('') + (isLast ? ']}' : ''), isLast };
  }

  #present(record: RequestRecord): string {
    try {
      const text = this.#separator + JSON.stringify(presentPreview(record));
      this.#separator = ',';
      return text;
    } catch (error) {
      this.#onFailure(error);
      return '';
    } finally {
      if (record.body !== null) freeBytes(record.body);
    }
  }
}

function inParts(records: readonly RequestRecord[]): RequestRecord[][] {
  const parts: RequestRecord[][] = [];
  let left = 0;
  for (const record of records) {
    const bytes = storedBytes(record);
    if (bytes > left) {
      parts.push([]);
      left = PART_BYTES;
    }
    parts.at(-1)?.push(record);
    left -= bytes;
  }
  return parts;
}

function cutBodies(records: readonly RequestRecord[]): readonly RequestRecord[] {
  if (sum(records, storedBytes) <= MAX_BYTES) return records;
  const bodyBytes = MAX_BYTES - sum(records, (record) => record.head.length);
  const maxBytes = Math.max(MIN_BODY_BYTES, Math.floor(bodyBytes / records.length));
  return records.map((record) => withShortBody(record, maxBytes));
}

function sum(records: readonly RequestRecord[], of: (record: RequestRecord) => number): number {
  return records.reduce((total, record) => total + of(record), 0);
}
