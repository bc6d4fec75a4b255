/**
 * PostgreSQL's `escape` format of bytes: NUL and bytes from 0x80 as `\ooo`, a doubled backslash, the rest unchanged.
 * Each byte is translated separately, so contained bytes give contained text. The reverse does not always hold: `00` is
 * found inside `\000`, and `\` across two escapes.
 */
export function escapeFormat(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('latin1')
    .replace(/[\\\0\x80-\xff]/g, (character) => (character === '\\' ? '\\\\' : octal(character)));
}

function octal(character: string): string {
  return `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`;
}
