import type { ColoredRange } from './marked-text.tsx';

/** Longer XML is shown as received and without colors. */
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

const NAME = /^<[/?]?[^\s/>?]*/;
const ATTRIBUTE = /([^\s=/>"']+)(\s*=\s*)("[^"]*"|'[^']*')/g;

/** The colors of XML: tags, attributes, comments and instructions. Text between tags has none. */
export function xmlColors(text: string): ColoredRange[] {
  if (text.length > MAX_XML) return [];
  const ranges: ColoredRange[] = [];
  for (const { 0: piece, index: start } of text.matchAll(PIECE)) {
    const end = start + piece.length;
    if (/^<(!|\?)/.test(piece)) ranges.push({ start, end, color: piece.startsWith('<![CDATA[') ? 'string' : 'quiet' });
    else if (piece.startsWith('<')) ranges.push(...tagColors(piece, start));
  }
  return ranges;
}

function tagColors(tag: string, start: number): ColoredRange[] {
  const name = NAME.exec(tag)?.[0].length ?? 1;
  const ranges: ColoredRange[] = [{ start, end: start + name, color: 'name' }];
  for (const match of tag.slice(name).matchAll(ATTRIBUTE)) {
    const [, attribute = '', equals = '', value = ''] = match;
    const at = start + name + match.index;
    const valueAt = at + attribute.length + equals.length;
    ranges.push({ start: at, end: at + attribute.length, color: 'attribute' });
    ranges.push({ start: valueAt, end: valueAt + value.length, color: 'string' });
  }
  const close = /[/?]?>$/.exec(tag);
  if (close !== null && close.index >= name)
    ranges.push({ start: start + close.index, end: start + tag.length, color: 'name' });
  return ranges;
}
