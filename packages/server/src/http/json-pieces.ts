import { StringDecoder } from 'node:string_decoder';

/**
 * Bytes per piece of text. A multiple of 3, so that pieces of base64 join. Control characters grow to six characters,
 * and then a piece takes about a millisecond.
 */
const PIECE_BYTES = 24 * 1024;
/** Maximum growth of a byte of text in JSON: a control character takes six. */
export const MAX_JSON_GROWTH = 6;
/** Characters per write. */
const SLICE_CHARACTERS = 16 * 1024;

/** A text that stays bytes until it is written, as UTF-8 or as base64. */
export class LongText {
  readonly #bytes: Buffer;
  readonly #encoding: 'utf8' | 'base64';

  constructor(bytes: Buffer, encoding: 'utf8' | 'base64') {
    this.#bytes = bytes;
    this.#encoding = encoding;
  }

  /** The output of `JSON.stringify` for the text, in pieces. Never splits a character. */
  *json(): Generator<string> {
    const decoder = new StringDecoder(this.#encoding);
    yield '"';
    for (let at = 0; at < this.#bytes.length; at += PIECE_BYTES)
      yield escaped(decoder.write(this.#bytes.subarray(at, at + PIECE_BYTES)));
    yield `${escaped(decoder.end())}"`;
  }
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The output of `JSON.stringify` for an object whose members may be long texts, generated on demand. */
export function* objectJson(value: object): Generator<string> {
  const plain: [string, unknown][] = [];
  let isFirst = true;
  const flush = (): string => {
    const inner = JSON.stringify(Object.fromEntries(plain)).slice(1, -1);
    plain.length = 0;
    if (inner === '') return '';
    const text = isFirst ? inner : `,${inner}`;
    isFirst = false;
    return text;
  };
  yield '{';
  for (const [name, member] of Object.entries(value)) {
    if (!(member instanceof LongText)) {
      plain.push([name, member]);
      continue;
    }
    yield flush();
    yield `${isFirst ? '' : ','}${JSON.stringify(name)}:`;
    isFirst = false;
    yield* member.json();
  }
  yield flush();
  yield '}';
}

/** The output of `JSON.stringify` for the list of presented items. Each item is presented on demand. */
export function* listJson<T>(items: readonly T[], present: (item: T) => object): Generator<string> {
  let before = '[';
  for (const item of items) {
    yield before + JSON.stringify(present(item));
    before = ',';
  }
  yield items.length === 0 ? '[]' : ']';
}

/** Joins pieces until they are worth a write. Omits empty ones. */
export function* inSlices(pieces: Iterable<string>): Generator<string> {
  let slice = '';
  for (const piece of pieces) {
    slice += piece;
    if (slice.length < SLICE_CHARACTERS) continue;
    yield slice;
    slice = '';
  }
  if (slice !== '') yield slice;
}

/** The number of bytes of truncated UTF-8 text that form whole characters. */
export function utf8Boundary(bytes: Uint8Array): number {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  const lead = bytes[start] ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return start + length <= bytes.length ? bytes.length : start;
}
