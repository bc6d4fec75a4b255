/** Longer XML is shown as received. */
const MAX_XML = 1024 * 1024;

const INDENT = '  ';

/** A piece of XML: a tag, or the text between tags. */
const PIECE =
  /<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<\?[\s\S]*?\?>|<![^>]*>|<\/[^>]*>|<(?:"[^"]*"|'[^']*'|[^'">])*>|[^<]+/g;

/**
 * Indents XML with one element per line, for display only. Works on text and never builds a document. `undefined` if
 * the result could be misleading: not XML, wrong nesting, mixed content, or too long.
 */
export function formatXml(text: string): string | undefined {
  const trimmed = text.trim();
  if (!trimmed.startsWith('<') || !trimmed.endsWith('>') || trimmed.length > MAX_XML) return undefined;
  const pieces = trimmed.match(PIECE) ?? [];
  if (pieces.join('') !== trimmed) return undefined;
  const lines: string[] = [];
  const open: string[] = [];
  for (let at = 0; at < pieces.length; at++) {
    const piece = pieces[at] ?? '';
    if (piece.trim() === '') continue;
    const name = nameOf(piece);
    const inner = pieces[at + 1] ?? '';
    if (!piece.startsWith('<')) return undefined;
    if (piece.startsWith('</')) {
      if (open.pop() !== name) return undefined;
      lines.push(INDENT.repeat(open.length) + piece);
    } else if (
      isOpening(piece) &&
      nameOf(pieces[at + 2] ?? '') === name &&
      isText(inner) &&
      pieces[at + 2]?.startsWith('</') === true
    ) {
      lines.push(INDENT.repeat(open.length) + piece + inner + pieces[at + 2]);
      at += 2;
    } else if (isOpening(piece) && inner === `</${name}>`) {
      lines.push(INDENT.repeat(open.length) + piece + inner);
      at += 1;
    } else {
      lines.push(INDENT.repeat(open.length) + piece);
      if (isOpening(piece)) open.push(name);
    }
  }
  return open.length === 0 ? lines.join('\n') : undefined;
}

function isOpening(piece: string): boolean {
  return /^<[^!?/]/.test(piece) && !piece.endsWith('/>');
}

function isText(piece: string): boolean {
  return !piece.startsWith('<') || piece.startsWith('<![CDATA[');
}

function nameOf(piece: string): string {
  return /^<\/?([^\s/>]+)/.exec(piece)?.[1] ?? '';
}
