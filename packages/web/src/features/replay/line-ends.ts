/** How the lines of a text end. A text area knows LF alone (HTML 4.10.11), so that what stood there has to be put back. */
export type LineEnds = 'LF' | 'CRLF' | 'CR' | 'mixed';

/** How a text ends its lines; LF where it has a single one. */
export function lineEndsOf(text: string): LineEnds {
  const found = new Set(text.match(/\r\n|\r|\n/g));
  if (found.size > 1) return 'mixed';
  return found.has('\r\n') ? 'CRLF' : found.has('\r') ? 'CR' : 'LF';
}

/** What a text area makes of a text. */
export function inTextArea(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n');
}

/** The text of a text area with the line ends that it had before; mixed ones stay LF, since nobody knows which was where. */
export function withLineEnds(text: string, ends: LineEnds): string {
  if (ends === 'LF' || ends === 'mixed') return text;
  return text.replaceAll('\n', ends === 'CRLF' ? '\r\n' : '\r');
}
