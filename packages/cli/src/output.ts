import { queryOf } from '@creel/contract';
import type { CapturedRequest, Endpoint } from '@creel/contract';

/**
 * What is captured was written by strangers. A terminal obeys control characters (ECMA-48), also the 8-bit ones (U+009B begins a
 * sequence as ESC [ does), and bidirectional controls make it show another text than there is. A line separator is a line's end to some.
 */
const OBEYED = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;
const OBEYED_IN_TEXT = /(?![\n\t])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const short = SHORT[character];
  if (short !== undefined) return short;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}

/** For one line: everything that a terminal would obey stands escaped. For eyes: a backslash that was sent is shown as it is. */
export function visible(text: string): string {
  return text.replace(OBEYED, escaped);
}

/** For text of several lines: line feeds and tabs stay. */
export function visibleText(text: string): string {
  return text.replace(OBEYED_IN_TEXT, escaped);
}

/** One line of JSON in which everything a terminal would obey is escaped as JSON has it: programs read the same value. */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value).replace(OBEYED, jsonEscaped)}\n`;
}

function jsonEscaped(character: string): string {
  // All of them lie in the first plane, so one unit is the whole character.
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** True for bytes that a terminal shows and does not obey: UTF-8 without control characters but tab and line ends. */
export function isPlainText(bytes: Uint8Array): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.replaceAll('\r\n', '\n').search(OBEYED_IN_TEXT) < 0;
  } catch {
    return false;
  }
}

/** Path and query, as they were sent. */
export function shownTarget(request: Pick<CapturedRequest, 'path' | 'rawTarget' | 'queryParams'>): string {
  return request.path + queryOf(request);
}

/** A capture in one line: time, index, method, target, size in bytes. */
export function captureLine(request: CapturedRequest): string {
  const { timestamp, index, method, size } = request;
  const cells = [timestamp, String(index).padStart(5), method.padEnd(6), shownTarget(request), `${size} B`];
  return `${visible(cells.join('  '))}\n`;
}

/** One line per endpoint. The name comes last: it alone may hold spaces and wide characters. */
export function endpointLines(endpoints: readonly Endpoint[], now: number): string {
  const rows = endpoints.map((endpoint) => [
    endpoint.uid,
    `${endpoint.requestCount} stored`,
    expiryOf(endpoint, now),
    endpoint.url,
    endpoint.name ?? '',
  ]);
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => `${visible(line).trimEnd()}\n`)
    .join('');
}

function expiryOf({ expiresAt }: Endpoint, now: number): string {
  if (expiresAt === null) return 'never expires';
  return `${Date.parse(expiresAt) <= now ? 'expired' : 'expires'} ${expiresAt}`;
}

/** A captured request as it came, as far as a terminal may show it: method and target, headers, an empty line, the body if it is text. */
export function requestText(request: CapturedRequest): string {
  const headers = request.rawHeaders.map(([name, value]) => `${visible(name)}: ${visible(value)}\n`).join('');
  return `${visible(`${request.method} ${shownTarget(request)}`)}\n${headers}\n${bodyText(request)}`;
}

function bodyText({ body, bodyEncoding }: CapturedRequest): string {
  if (body === null || body === '' || bodyEncoding === 'base64') return '';
  const text = visibleText(body);
  return text.endsWith('\n') ? text : `${text}\n`;
}
