import { PLAIN_FIELD_NAMES } from './parse-value.ts';

/** A word like `field:value` whose field does not exist. It is searched as text. */
export interface UnknownField {
  readonly name: string;
  readonly position: number;
  /** The field that is probably meant. */
  readonly suggestion: string | undefined;
}

/** Names that other tools and senders use for a field. */
const ALIASES: Readonly<Record<string, string>> = {
  code: 'status',
  header: 'header.name',
  headers: 'header.name',
  json: 'json.key',
  query: 'query.name',
  sender: 'source',
  type: 'event',
  url: 'path',
};

/** A shorter name is one edit away from too many others. */
const MIN_MISSPELLED_LENGTH = 4;

/** The field that a user probably means with a name that is not one. */
export function suggestField(written: string): string | undefined {
  const name = written.toLowerCase();
  const [root = '', ...rest] = written.split('.');
  if (rest.length > 0) {
    const parent = ['json', 'header', 'query'].find((known) => isMisspelled(root.toLowerCase(), known));
    return parent === undefined ? `json.${written}` : [parent, ...rest].join('.');
  }
  if (Object.hasOwn(ALIASES, name)) return ALIASES[name];
  return PLAIN_FIELD_NAMES.find((field) => isMisspelled(name, field));
}

/** True for the name itself, and for one that is at most one character or one swap away from it. */
export function isMisspelled(written: string, name: string): boolean {
  if (written === name) return true;
  if (written.length < MIN_MISSPELLED_LENGTH) return false;
  let at = 0;
  while (written[at] === name[at]) at += 1;
  const [left, right] = [written.slice(at), name.slice(at)];
  const swapped = `${left[1] ?? ''}${left[0] ?? ''}${left.slice(2)}`;
  return left.slice(1) === right || left === right.slice(1) || left.slice(1) === right.slice(1) || swapped === right;
}

/** Says which words of a query are searched as text although they look like a field. `undefined` if there are none. */
export function unknownFieldsSentence(fields: readonly UnknownField[]): string | undefined {
  return fields.length === 0 ? undefined : unknownFieldsSentences(fields).join(' ');
}

/** The same as separate sentences: the words that are searched as text, and the fields that were probably meant. */
export function unknownFieldsSentences(fields: readonly UnknownField[]): readonly string[] {
  const [first] = fields;
  if (first === undefined) return [];
  const suggestions = [...new Set(fields.map(({ suggestion }) => suggestion))].filter((one) => one !== undefined);
  const note =
    fields.length === 1
      ? `${first.name}: is not a field, so it is searched as text.`
      : `${listed(fields.map(({ name }) => name))} are not fields, so they are searched as text.`;
  return suggestions.length === 0 ? [note] : [note, `Did you mean ${listed(suggestions)}?`];
}

const listed = (names: readonly string[]): string => names.map((name) => `${name}:`).join(', ');
