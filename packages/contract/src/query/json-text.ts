/**
 * Work that yields often, so that the caller can let other work proceed, or stop. A large body takes up to seconds, and the thread
 * serves other users meanwhile.
 */
export type WorkSteps = Generator<undefined, boolean>;

/** Does all of the work at once. */
export function resultOf(steps: WorkSteps): boolean {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Values of a JSON text that are visited between two yields: a few milliseconds at most. */
export const STEPS_PER_YIELD = 4096;

// The functions below read JSON text without creating values. This preserves duplicate keys and all digits of numbers,
// and needs no memory besides the text.

export const [QUOTE, COMMA, COLON] = [0x22, 0x2c, 0x3a];
export const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d];
const [BACKSLASH, TAB, LINE_FEED, RETURN, SPACE] = [0x5c, 0x09, 0x0a, 0x0d, 0x20];

/** True for the character that begins an object or an array. */
export function isOpener(code: number): boolean {
  return code === OPEN_OBJECT || code === OPEN_ARRAY;
}

/** Returns the position of the next character that is not white space. */
export function skipSpace(text: string, from: number): number {
  let at = from;
  for (; ; at += 1) {
    const code = text.charCodeAt(at);
    if (code !== SPACE && code !== LINE_FEED && code !== RETURN && code !== TAB) return at;
  }
}

/** Returns the position after the string that starts at `open`, or -1 if it does not end. */
export function stringEnd(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return at + 1;
  }
  return -1;
}

/** Returns the position after the string, number or word that starts at `start`, or -1 if there is none. */
export function scalarEnd(text: string, start: number): number {
  return text.charCodeAt(start) === QUOTE ? stringEnd(text, start) : wordEnd(text, start);
}

/** Characters of containers that are skipped per step. */
const CHARACTERS_PER_STEP = 256;

/** Skips containers in steps, because one of 25 MB takes up to 0.3 s. Validates only the brackets. */
export class ContainerSkip {
  #at = 0;
  #open = 0;

  get isRunning(): boolean {
    return this.#open > 0;
  }

  /** Starts within one container. */
  start(at: number): void {
    this.#at = at;
    this.#open = 1;
  }

  /** Does a step. Returns the position after the container, -1 if it does not end, or `undefined` if more steps follow. */
  advance(text: string): number | undefined {
    const end = Math.min(text.length, this.#at + CHARACTERS_PER_STEP);
    let at = this.#at;
    for (; at < end; at += 1) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        const after = stringEnd(text, at);
        if (after < 0) return -1;
        at = after - 1;
      } else if (isOpener(code)) {
        this.#open += 1;
      } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
        this.#open -= 1;
        if (this.#open === 0) return at + 1;
      }
    }
    this.#at = at;
    return at < text.length ? undefined : -1;
  }
}

const AFTER_WORD = /[\s,:{}[\]"]/g;

/** One search, because a test of each character of a body that is one number of 25 MB took a second. */
function wordEnd(text: string, start: number): number {
  AFTER_WORD.lastIndex = start;
  const end = AFTER_WORD.test(text) ? AFTER_WORD.lastIndex - 1 : text.length;
  return end === start ? -1 : end;
}

const SCALAR = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f]/;
const WRONG_ESCAPE = /\\(?!["\\/bfnrt]|u[\da-fA-F]{4})/;

/** True for exactly the texts that `JSON.parse` accepts. Uses one byte per level of nesting. */
export function* isJson(text: string): WorkSteps {
  // The codes of the closing brackets that are missing, outermost first.
  let closers = new Uint8Array(64);
  let depth = 0;
  let at = skipSpace(text, 0);
  for (let steps = 1; ; steps += 1) {
    if (steps % STEPS_PER_YIELD === 0) yield;
    const opener = text.charCodeAt(at);
    if (isOpener(opener)) {
      const closer = opener === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY;
      if (depth === closers.length) closers = new Uint8Array(closers.buffer.transfer(2 * depth));
      closers[depth] = closer;
      depth += 1;
      at = skipSpace(text, at + 1);
      if (text.charCodeAt(at) !== closer) {
        if (closer === CLOSE_OBJECT) at = afterKey(text, at);
        if (at < 0) return false;
        continue;
      }
    } else {
      const end = scalarEnd(text, at);
      if (end < 0 || !isScalar(text.slice(at, end))) return false;
      at = skipSpace(text, end);
    }
    while (depth > 0 && text.charCodeAt(at) === closers[depth - 1]) {
      depth -= 1;
      at = skipSpace(text, at + 1);
    }
    if (depth === 0) return at === text.length;
    if (text.charCodeAt(at) !== COMMA) return false;
    at = skipSpace(text, at + 1);
    if (closers[depth - 1] === CLOSE_OBJECT) at = afterKey(text, at);
    if (at < 0) return false;
  }
}

/** Returns the position of the value after the key at `at`, or -1. */
function afterKey(text: string, at: number): number {
  if (text.charCodeAt(at) !== QUOTE) return -1;
  const end = stringEnd(text, at);
  if (end < 0 || !isScalar(text.slice(at, end))) return -1;
  const colon = skipSpace(text, end);
  return text.charCodeAt(colon) === COLON ? skipSpace(text, colon + 1) : -1;
}

function isScalar(raw: string): boolean {
  return raw.startsWith('"') ? isJsonString(raw) : SCALAR.test(raw);
}

function isJsonString(raw: string): boolean {
  if (CONTROL.test(raw)) return false;
  if (!raw.includes('\\')) return true;
  // Removes pairs of backslashes first, because the second of a pair starts no escape.
  return !WRONG_ESCAPE.test(raw.slice(1, -1).replaceAll('\\\\', '//'));
}
