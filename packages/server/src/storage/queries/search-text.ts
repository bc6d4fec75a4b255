import { queryMap } from '@creel/contract';
import { METHODS } from 'node:http';
import type { RequestHead } from '../request-head.ts';

/** Lower case for the 26 letters and nothing else: what "without regard to ASCII case" means (contract 4). */
export function asciiLower(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** What every encoder of queries leaves as it is: letters, digits and the marks that Java's and PHP's forms leave, too. */
const NEVER_ENCODED = /[\w.-]+/g;
/** A run of those that is shorter stands in too many heads to tell them apart. */
const LEAST_RUN = 3;
const MOST_RUNS = 3;

/**
 * What a head holds at least where it contains a text, however its query is encoded: any of these lists, with all that is in it, as
 * bytes in lower case. A sieve: `headMatches` looks at what it lets through.
 */
export function headSieve(text: string): readonly (readonly Buffer[])[] {
  const runs = [...new Set(asciiLower(text).match(NEVER_ENCODED))].toSorted((a, b) => b.length - a.length);
  if ((runs[0]?.length ?? 0) < LEAST_RUN) return writtenForms(text).map((form) => [form]);
  return [runs.slice(0, MOST_RUNS).map((run) => Buffer.from(run))];
}

/**
 * What senders write plainly though it could be encoded: nothing; what joins name and value; the slash, as Python does; both; all that
 * is allowed there. Not every mixture: each is one more look at every head.
 */
const PLAIN: readonly (readonly string[])[] = [[], ['='], ['/'], ['=', '/'], ['=', '/', ':', '@']];
/** What JavaScript leaves plain, and other encoders do not. */
const MARKS = /[!'()*~]/g;

const percent = (character: string): string => `%${character.charCodeAt(0).toString(16)}`;

/** The forms of a text without a long run: as typed, as Latin-1 header text, and as a query or path would write it. */
function writtenForms(text: string): readonly Buffer[] {
  const lower = asciiLower(text);
  const forms = new Map<string, Buffer>();
  const add = (bytes: Buffer): unknown => forms.set(bytes.toString('latin1'), bytes);
  add(Buffer.from(lower, 'utf8'));
  if ([...lower].every((character) => character <= 'ÿ')) add(Buffer.from(lower, 'latin1'));
  const encoded = asciiLower(encodeURIComponent(text.toWellFormed()));
  for (const plain of PLAIN) {
    const form = plain.reduce((done, one) => done.replaceAll(asciiLower(encodeURIComponent(one)), one), encoded);
    for (const written of [form, form.replace(MARKS, percent)]) {
      add(Buffer.from(written));
      add(Buffer.from(written.replaceAll('%20', '+')));
    }
  }
  return [...forms.values()];
}

/** The methods whose name contains a text. */
export function methodsWith(text: string): readonly string[] {
  const needle = asciiLower(text);
  return METHODS.filter((method) => asciiLower(method).includes(needle));
}

/** Whether method, path, query, a header name or a header value contains the text; the address and the seams between don't count. */
export function headMatches(method: string, head: RequestHead, text: string): boolean {
  const needle = asciiLower(text);
  const contains = (part: string): boolean =>
    asciiLower(part).includes(needle) || asciiLower(asUtf8(part)).includes(needle);
  if (contains(method) || contains(head.target)) return true;
  if (head.rawHeaders.some(([name, value]) => contains(name) || contains(value))) return true;
  const query = head.target.indexOf('?');
  if (query < 0) return false;
  return Object.entries(queryMap(head.target.slice(query + 1))).some(([name, values]) =>
    [values].flat().some((value) => contains(`${name}=${value}`)),
  );
}

/** Header bytes read as UTF-8, as many senders mean them; what is plain ASCII comes back as it is. */
function asUtf8(text: string): string {
  return /[\x80-\xff]/.test(text) ? Buffer.from(text, 'latin1').toString('utf8') : text;
}
