const PLAIN = /^[\w@%+=:,./-]+$/;
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\x00-\x09\x0b-\x1f\x7f]/;
// oxlint-disable-next-line no-control-regex -- everything but ASCII is what is looked for
const BEYOND_ASCII = /[^\x00-\x7f]/;
const UNSAFE_BYTE = /[^\x20-\x7e]|['\\]/g;
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const UNSAFE_CHARACTER = /[\x00-\x1f\x7f'\\]/g;

/**
 * Quotes a text as one word for POSIX-like shells. Control characters are escaped, so that pasting the command can't
 * trigger a key.
 */
export function quoteText(text: string): string {
  if (PLAIN.test(text)) return text;
  return CONTROL.test(text) ? ansiQuote(text, false) : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Quotes Latin-1 text such as paths and headers. The bytes are kept, whatever the terminal's encoding is. */
export function quoteLatin1(text: string): string {
  return BEYOND_ASCII.test(text) ? ansiQuote(text, true) : quoteText(text);
}

/** `$'…'`, which can contain bytes as `\xff`. */
function ansiQuote(text: string, everyByte: boolean): string {
  const inner = text.replaceAll(everyByte ? UNSAFE_BYTE : UNSAFE_CHARACTER, (character) => {
    if (character === "'" || character === '\\') return `\\${character}`;
    if (character === '\n') return String.raw`\n`;
    return `\\x${(character.codePointAt(0) ?? 0).toString(16).padStart(2, '0')}`;
  });
  return `$'${inner}'`;
}
