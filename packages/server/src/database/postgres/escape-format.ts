/**
 * PostgreSQL's `escape` format of bytes: NUL and everything from 0x80 on as `\ooo`, a backslash doubled, the rest as it is. Bytes are
 * translated one by one, so what is contained in the bytes is contained in the text. The reverse is not always true: `00` is found
 * inside `\000`, and `\` may be found across two of them.
 */
export function escapeFormat(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('latin1')
    .replace(/[\\\0\x80-\xff]/g, (character) => (character === '\\' ? '\\\\' : octal(character)));
}

function octal(character: string): string {
  return `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`;
}
