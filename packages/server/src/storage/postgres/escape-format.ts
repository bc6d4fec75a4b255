/**
 * PostgreSQL's `escape` format of bytes: NUL and everything from 0x80 on as `\ooo`, a backslash doubled, the rest as it is. Bytes are
 * translated one by one, so what is contained in the bytes is contained in the text. The reverse fails in two places, which
 * `mayMatchInsideEscape` names: `00` is found inside `\000`, and `\` may be found across two of them.
 */
export function escapeFormat(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('latin1')
    .replace(/[\\\0\x80-\xff]/g, (character) => (character === '\\' ? '\\\\' : octal(character)));
}

function octal(character: string): string {
  return `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`;
}

/** Whether a match of this escaped text has to be looked at again. */
export function mayMatchInsideEscape(escaped: string): boolean {
  return /^[0-7]|\\/.test(escaped);
}

/**
 * A regular expression that matches the escaped text as whole bytes, in a text where each doubled backslash became `\134`: then every
 * backslash begins an escape of three digits, and a match may not begin behind fewer than three of them.
 */
export function wholeMatchPattern(escaped: string): string {
  const literal = escaped.replaceAll('\\\\', '\\134').replace(/[!-/:-@[-`{-~]/g, (sign) => `\\${sign}`);
  return `(?<!\\\\[0-7]{0,2})${literal}`;
}
