import { CELL, KIND, LineTable } from './json-lines.ts';
import type { JsonLines, LineKind } from './json-lines.ts';

/** Maximum number of lines in a view: about 60 MB of numbers. */
const MAX_LINES = 1_500_000;

interface FormatOptions {
  /** True if the text may be only the first part of the JSON. The lines up to its end are returned. */
  readonly partial?: boolean;
  /** True if several values may follow each other: JSON Lines, NDJSON, JSON text sequences (RFC 7464). */
  readonly sequence?: boolean;
  readonly maxLines?: number;
}

/**
 * Formats strict JSON (RFC 8259, with an optional byte order mark) into lines; `undefined` for other text. Works in
 * one pass without recursion, so depth and size don't matter. The lines point into the source, see `JsonLines`.
 */
export function formatJson(text: string, options: FormatOptions = {}): JsonLines | undefined {
  const formatter = new JsonFormatter(text, options.maxLines ?? MAX_LINES, options.sequence === true);
  const outcome = formatter.run();
  if (outcome === 'bad' || (outcome === 'text' && options.partial !== true)) return undefined;
  return { text, ...formatter.lines.finish(), values: formatter.values, ended: outcome };
}

/**
 * The position of the first character that can't be JSON, with line and column from 1; `undefined` for valid JSON. `ended`
 * is true if the text only ends too early.
 */
export function findJsonError(text: string) {
  const formatter = new JsonFormatter(text, MAX_LINES, false);
  const outcome = formatter.run();
  if (outcome !== 'bad' && outcome !== 'text') return undefined;
  const before = text.slice(0, formatter.at);
  const line = before.split('\n').length;
  const column = formatter.at - before.lastIndexOf('\n');
  return { at: formatter.at, line, column, ended: outcome === 'text' };
}

type Outcome = 'complete' | 'text' | 'lines' | 'bad';
type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | ', or close' | 'end';

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const NUMBER_BEGUN = /-?\d*\.?\d*[eE]?[+-]?/y;
const WORDS = ['true', 'false', 'null'];
const ESCAPED = new Set('"\\/bfnrt');
const HEX4 = /[\dA-Fa-f]{4}/y;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const RECORD_SEPARATOR = 0x1e;

class JsonFormatter {
  readonly lines = new LineTable();
  /** Number of top-level values. */
  values = 0;
  /** Where the next token starts; after 'bad', where the error is. */
  at: number;
  private expected: Expected = 'value';
  /** Line of the innermost open bracket; -1 at the top level. */
  private open = -1;
  private depth = 0;
  private keyStart = -1;
  private keyEnd = -1;
  /** The line that a comma would belong to. */
  private last = -1;
  private readonly text: string;
  private readonly maxLines: number;
  private readonly isSequence: boolean;

  constructor(text: string, maxLines: number, isSequence: boolean) {
    this.isSequence = isSequence;
    this.text = text;
    this.maxLines = maxLines;
    this.at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  }

  run(): Outcome {
    for (;;) {
      this.skipSpace();
      if (this.at >= this.text.length) return this.expected === 'end' ? 'complete' : 'text';
      if (this.lines.count >= this.maxLines) return 'lines';
      const outcome = this.step(this.text[this.at] ?? '');
      if (outcome !== undefined) return outcome;
    }
  }

  /** Reads one token. A result ends the run. */
  private step(character: string): Outcome | undefined {
    switch (this.expected) {
      case 'value or ]':
        return character === ']' ? this.close(KIND.openArray) : this.value(character);
      case 'value':
        return this.value(character);
      case 'key or }':
        return character === '}' ? this.close(KIND.openObject) : this.key(character);
      case 'key':
        return this.key(character);
      case ':':
        return this.mark(character, ':', 'value');
      case ', or close':
        return this.afterValue(character);
      case 'end':
        return this.isSequence ? this.value(character) : 'bad';
    }
  }

  private mark(character: string, wanted: string, next: Expected): Outcome | undefined {
    if (character !== wanted) return 'bad';
    this.at++;
    this.expected = next;
    return undefined;
  }

  private afterValue(character: string): Outcome | undefined {
    const inObject = this.lines.get(this.open, CELL.kind) === KIND.openObject;
    if (character === '}') return this.close(KIND.openObject);
    if (character === ']') return this.close(KIND.openArray);
    if (character === ',') this.lines.set(this.last, CELL.comma, 1);
    return this.mark(character, ',', inObject ? 'key' : 'value');
  }

  private key(character: string): Outcome | undefined {
    if (character !== '"') return 'bad';
    const start = this.at;
    const outcome = this.string();
    if (outcome !== undefined) return outcome;
    this.keyStart = start;
    this.keyEnd = this.at;
    this.expected = ':';
    return undefined;
  }

  private value(character: string): Outcome | undefined {
    if (character === '{') return this.openBracket(KIND.openObject, 'key or }');
    if (character === '[') return this.openBracket(KIND.openArray, 'value or ]');
    const start = this.at;
    const kind = character === '"' ? KIND.string : /[-\d]/.test(character) ? KIND.number : KIND.word;
    const outcome = kind === KIND.string ? this.string() : kind === KIND.number ? this.number() : this.word();
    if (outcome === 'bad') return 'bad';
    this.last = this.addLine(kind, start, this.at);
    this.valueDone();
    return outcome;
  }

  private openBracket(kind: LineKind, next: Expected): undefined {
    this.open = this.addLine(kind, this.at, this.text.length);
    this.depth++;
    this.at++;
    this.expected = next;
  }

  private close(opened: LineKind): Outcome | undefined {
    const line = this.open;
    if (this.lines.get(line, CELL.kind) !== opened) return 'bad';
    this.at++;
    this.depth--;
    this.open = this.lines.get(line, CELL.parent);
    this.lines.set(line, CELL.end, this.at);
    if (this.lines.get(line, CELL.size) === 0) {
      this.lines.set(line, CELL.kind, opened === KIND.openObject ? KIND.emptyObject : KIND.emptyArray);
      this.last = line;
    } else {
      const kind = opened === KIND.openObject ? KIND.closeObject : KIND.closeArray;
      this.last = this.lines.add(kind, this.at - 1, this.at, this.depth, this.open);
      this.lines.set(line, CELL.fold, this.last);
    }
    this.valueDone();
    return undefined;
  }

  private valueDone(): void {
    this.expected = this.open < 0 ? 'end' : ', or close';
  }

  /** Adds the line of a value and counts it in its parent. */
  private addLine(kind: LineKind, start: number, end: number): number {
    const line = this.lines.add(kind, start, end, this.depth, this.open);
    this.lines.set(line, CELL.keyStart, this.keyStart);
    this.lines.set(line, CELL.keyEnd, this.keyEnd);
    this.keyStart = -1;
    this.keyEnd = -1;
    if (this.open >= 0) {
      const ordinal = this.lines.get(this.open, CELL.size);
      this.lines.set(line, CELL.ordinal, ordinal);
      this.lines.set(this.open, CELL.size, ordinal + 1);
    } else this.values++;
    return line;
  }

  private skipSpace(): void {
    const { text } = this;
    for (;;) {
      const code = text.charCodeAt(this.at);
      const parts = this.isSequence && code === RECORD_SEPARATOR;
      if (code !== SPACE && code !== 0x0a && code !== 0x0d && code !== 0x09 && !parts) return;
      this.at++;
    }
  }

  /** Reads a string from its opening quote to after its closing quote. */
  private string(): Outcome | undefined {
    const { text } = this;
    for (let at = this.at + 1; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        this.at = at + 1;
        return undefined;
      }
      if (code < SPACE) return this.brokenAt(at);
      if (code !== BACKSLASH) continue;
      const length = escapeLength(text, at);
      if (length === 0) return this.brokenAt(at);
      at += length - 1;
    }
    this.at = text.length;
    return 'text';
  }

  private brokenAt(at: number): 'bad' {
    this.at = at;
    return 'bad';
  }

  private number(): Outcome | undefined {
    NUMBER.lastIndex = this.at;
    if (NUMBER.test(this.text)) {
      this.at = NUMBER.lastIndex;
      return undefined;
    }
    NUMBER_BEGUN.lastIndex = this.at;
    NUMBER_BEGUN.test(this.text);
    if (NUMBER_BEGUN.lastIndex < this.text.length) return 'bad';
    this.at = this.text.length;
    return 'text';
  }

  private word(): Outcome | undefined {
    const word = WORDS.find((candidate) => this.text.startsWith(candidate, this.at));
    if (word !== undefined) {
      this.at += word.length;
      return undefined;
    }
    const rest = this.text.slice(this.at, this.at + 5);
    if (this.at + rest.length < this.text.length || !WORDS.some((candidate) => candidate.startsWith(rest)))
      return 'bad';
    this.at = this.text.length;
    return 'text';
  }
}

/**
 * Length of the escape at a backslash; 0 if it is invalid. An escape that the end of the text cuts counts as complete.
 */
function escapeLength(text: string, at: number): number {
  const letter = text[at + 1];
  if (letter === undefined || ESCAPED.has(letter)) return 2;
  if (letter !== 'u') return 0;
  HEX4.lastIndex = at + 2;
  if (HEX4.test(text)) return 6;
  return text.length < at + 6 && /^[\dA-Fa-f]*$/.test(text.slice(at + 2)) ? 6 : 0;
}
