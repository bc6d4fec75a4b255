import { skipSpace, stringEnd, valueEnd } from './json-text.ts';
import type { JsonStep } from './query.ts';

/** Reasons to end a walk: the value was found, or the text is not JSON. */
const FOUND = -1;
const BROKEN = -2;

/**
 * True if `accepts` returns true for a value at `path` in JSON text. Checks all duplicates of a key. `accepts` receives the source text of
 * the value. For text that is not JSON, the walk ends but the result has no meaning.
 */
export function someValueAt(text: string, path: readonly JsonStep[], accepts: (raw: string) => boolean): boolean {
  return new PathWalk(text, path, accepts).isFound();
}

class PathWalk {
  readonly #text: string;
  readonly #path: readonly JsonStep[];
  readonly #accepts: (raw: string) => boolean;

  constructor(text: string, path: readonly JsonStep[], accepts: (raw: string) => boolean) {
    this.#text = text;
    this.#path = path;
    this.#accepts = accepts;
  }

  isFound(): boolean {
    return this.#walk(skipSpace(this.#text, 0), 0) === FOUND;
  }

  /** Returns the position after the value at `start`, or why the walk ends. Recursion is limited by the length of the path. */
  #walk(start: number, depth: number): number {
    const step = this.#path[depth];
    if (step === undefined) return this.#look(start);
    if (this.#text[start] === '{') return this.#members(start, depth, step);
    if (this.#text[start] === '[') return this.#elements(start, depth, step);
    return this.#skip(start);
  }

  #look(start: number): number {
    const end = this.#skip(start);
    return end >= 0 && this.#accepts(this.#text.slice(start, end)) ? FOUND : end;
  }

  #skip(start: number): number {
    const end = valueEnd(this.#text, start);
    return end < 0 ? BROKEN : end;
  }

  #members(start: number, depth: number, step: JsonStep): number {
    const text = this.#text;
    let at = skipSpace(text, start + 1);
    if (text[at] === '}') return at + 1;
    for (;;) {
      if (text[at] !== '"') return BROKEN;
      const keyEnd = stringEnd(text, at);
      const colon = skipSpace(text, keyEnd);
      if (keyEnd < 0 || text[colon] !== ':') return BROKEN;
      const isOnPath = step === 'any' || isKey(text.slice(at, keyEnd), step.key);
      const next = this.#afterChild(skipSpace(text, colon + 1), depth, isOnPath);
      if (next < 0) return next;
      if (text[next] === '}') return next + 1;
      if (text[next] !== ',') return BROKEN;
      at = skipSpace(text, next + 1);
    }
  }

  #elements(start: number, depth: number, step: JsonStep): number {
    const text = this.#text;
    let at = skipSpace(text, start + 1);
    if (text[at] === ']') return at + 1;
    for (let place = 0; ; place += 1) {
      const next = this.#afterChild(at, depth, step === 'any' || step.key === String(place));
      if (next < 0) return next;
      if (text[next] === ']') return next + 1;
      if (text[next] !== ',') return BROKEN;
      at = skipSpace(text, next + 1);
    }
  }

  #afterChild(start: number, depth: number, isOnPath: boolean): number {
    const end = isOnPath ? this.#walk(start, depth + 1) : this.#skip(start);
    return end < 0 ? end : skipSpace(this.#text, end);
  }
}

function isKey(raw: string, key: string): boolean {
  return raw.includes('\\') ? unescapedString(raw) === key : raw.length === key.length + 2 && raw.slice(1, -1) === key;
}

/** Decodes a JSON string. Returns `undefined` if it is not valid. */
export function unescapedString(raw: string): string | undefined {
  try {
    return String(JSON.parse(raw));
  } catch {
    return undefined;
  }
}
