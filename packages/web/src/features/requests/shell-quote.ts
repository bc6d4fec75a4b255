const PLAIN = /^[\w@%+=:,./-]+$/;
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\x00-\x09\x0b-\x1f\x7f]/;
// oxlint-disable-next-line no-control-regex -- everything but ASCII is what is looked for
const BEYOND_ASCII = /[^\x00-\x7f]/;
const UNSAFE_BYTE = /[^\x20-\x7e]|['\\]/g;
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const UNSAFE_CHARACTER = /[\x00-\x1f\x7f'\\]/g;

/**
 * One word for bash, zsh and their like that means exactly this text. Control characters are written out, so that pasting it into a
 * terminal can't press a key.
 */
export function quoteText(text: string): string {
  if (PLAIN.test(text)) return text;
  return CONTROL.test(text) ? ansiQuote(text, false) : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** The same for Latin-1 text, as paths and headers are: its bytes stay its bytes, whatever the terminal speaks. */
export function quoteLatin1(text: string): string {
  return BEYOND_ASCII.test(text) ? ansiQuote(text, true) : quoteText(text);
}

/** `$'…'`, in which a byte can be written as `\xff`. */
function ansiQuote(text: string, everyByte: boolean): string {
  const inner = text.replaceAll(everyByte ? UNSAFE_BYTE : UNSAFE_CHARACTER, (character) => {
    if (character === "'" || character === '\\') return `\\${character}`;
    if (character === '\n') return String.raw`\n`;
    return `\\x${(character.codePointAt(0) ?? 0).toString(16).padStart(2, '0')}`;
  });
  return `$'${inner}'`;
}
