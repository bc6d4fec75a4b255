/**
 * The line endings of a text. A text area only knows LF (HTML, section 4.10.11), so the original ones are restored
 * when sending.
 */
export type LineEnds = 'LF' | 'CRLF' | 'CR' | 'mixed';

/** The line ending of a text; LF if it has none or mixed ones. */
export function lineEndsOf(text: string): LineEnds {
  const found = new Set(text.match(/\r\n|\r|\n/g));
  if (found.size > 1) return 'mixed';
  return found.has('\r\n') ? 'CRLF' : found.has('\r') ? 'CR' : 'LF';
}

/** Normalizes line endings as a text area does. */
export function inTextArea(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n');
}

/** Restores the line endings of a text from a text area. Mixed ones stay LF, because their positions are lost. */
export function withLineEnds(text: string, ends: LineEnds): string {
  if (ends === 'LF' || ends === 'mixed') return text;
  return text.replaceAll('\n', ends === 'CRLF' ? '\r\n' : '\r');
}
