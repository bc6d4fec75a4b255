import { CLOSE_ARRAY, CLOSE_OBJECT, COLON, COMMA, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from './json-text.ts';
import { ContainerSkip, isOpener, scalarEnd, skipSpace, stringEnd, STEPS_PER_YIELD } from './json-text.ts';
import type { JsonStep } from './query.ts';
import { tryDecode } from '../decoding.ts';
import type { WorkSteps } from './json-text.ts';

/**
 * True if `accepts` returns true for a value at `path` in JSON text. Checks all duplicates of a key. `accepts` receives the source text of
 * the value. For text that is not JSON, the walk ends but the result has no meaning.
 */
export function* someValueAt(text: string, path: readonly JsonStep[], accepts: (raw: string) => boolean): WorkSteps {
  const walk = new PathWalk(text, path, accepts);
  for (let steps = 1; ; steps += 1) {
    const isFound = walk.advance();
    if (isFound !== undefined) return isFound;
    if (steps % STEPS_PER_YIELD === 0) yield;
  }
}

/** A step of a path, with the array position that it names: -1 for none, `Infinity` for all. */
interface PlacedStep {
  readonly key: string | undefined;
  readonly place: number;
}

/** An open container on the path. */
interface Container {
  readonly closer: number;
  readonly step: PlacedStep;
  /** Position of the next element of an array. */
  place: number;
}

/** Visits the values on a path one at a time, so that a walk through a large text can be interrupted. */
class PathWalk {
  readonly #text: string;
  readonly #path: readonly PlacedStep[];
  readonly #accepts: (raw: string) => boolean;
  /** Containers around the current value, outermost first. */
  readonly #containers: Container[] = [];
  /** Start of the next value, or of its key. */
  #at: number;
  readonly #skip = new ContainerSkip();
  /** Whether the value that ends next is at the path. */
  #isWanted = false;

  constructor(text: string, path: readonly JsonStep[], accepts: (raw: string) => boolean) {
    this.#text = text;
    this.#path = path.map(placedStep);
    this.#accepts = accepts;
    this.#at = skipSpace(text, 0);
  }

  /** Visits the next value, or a part of it. Returns whether one was found, or `undefined` while more follow. */
  advance(): boolean | undefined {
    if (!this.#skip.isRunning) {
      const container = this.#containers.at(-1);
      const isOnPath = container === undefined || this.#startChild(container);
      if (isOnPath === undefined) return false;
      const step = this.#path[this.#containers.length];
      if (isOnPath && step !== undefined && this.#enter(step)) return undefined;
      this.#isWanted = isOnPath && step === undefined;
      if (isOpener(this.#text.charCodeAt(this.#at))) this.#skip.start(this.#at + 1);
    }
    const end = this.#skip.isRunning ? this.#skip.advance(this.#text) : scalarEnd(this.#text, this.#at);
    if (end === undefined) return undefined;
    if (end < 0) return false;
    if (this.#isWanted && this.#accepts(this.#text.slice(this.#at, end))) return true;
    return this.#leave(end);
  }

  /** Moves to the value of a child. Returns whether it is on the path, or `undefined` if the text is not JSON. */
  #startChild({ closer, step, place }: Container): boolean | undefined {
    if (closer === CLOSE_ARRAY) return step.place === Infinity || step.place === place;
    const text = this.#text;
    if (text.charCodeAt(this.#at) !== QUOTE) return undefined;
    const keyStart = this.#at;
    const keyEnd = stringEnd(text, keyStart);
    const colon = skipSpace(text, keyEnd);
    if (keyEnd < 0 || text.charCodeAt(colon) !== COLON) return undefined;
    this.#at = skipSpace(text, colon + 1);
    return step.key === undefined || isKey(text, keyStart, keyEnd, step.key);
  }

  /** Enters the container at the current position. False if there is none with children on the path. */
  #enter(step: PlacedStep): boolean {
    const opener = this.#text.charCodeAt(this.#at);
    if (opener !== OPEN_OBJECT && (opener !== OPEN_ARRAY || step.place < 0)) return false;
    const closer = opener === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY;
    const first = skipSpace(this.#text, this.#at + 1);
    if (this.#text.charCodeAt(first) === closer) return false;
    this.#containers.push({ closer, step, place: 0 });
    this.#at = first;
    return true;
  }

  /** Moves on after a value. Returns false at the end of the text, or if it is not JSON. */
  #leave(end: number): false | undefined {
    for (let at = skipSpace(this.#text, end); ;) {
      const container = this.#containers.at(-1);
      if (container === undefined) return false;
      container.place += 1;
      const isPast = container.closer === CLOSE_ARRAY && container.place > container.step.place;
      const code = this.#text.charCodeAt(at);
      if (code === COMMA && !isPast) {
        this.#at = skipSpace(this.#text, at + 1);
        return undefined;
      }
      this.#containers.pop();
      if (code === COMMA) {
        this.#isWanted = false;
        this.#skip.start(at);
        return undefined;
      }
      if (code !== container.closer) return false;
      at = skipSpace(this.#text, at + 1);
    }
  }
}

function placedStep(step: JsonStep): PlacedStep {
  if (step === 'any') return { key: undefined, place: Infinity };
  return { key: step.key, place: /^(?:0|[1-9]\d*)$/.test(step.key) ? Number(step.key) : -1 };
}

function isKey(text: string, start: number, end: number, key: string): boolean {
  const isWritten = end - start === key.length + 2 && text.startsWith(key, start + 1);
  if (isWritten && !key.includes('\\')) return true;
  const raw = text.slice(start, end);
  return raw.includes('\\') && unescapedString(raw) === key;
}

/** Decodes a JSON string. Returns `undefined` if it is not valid. */
export function unescapedString(raw: string): string | undefined {
  return tryDecode(() => String(JSON.parse(raw)));
}
