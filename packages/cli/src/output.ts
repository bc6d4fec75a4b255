import { queryOf, textOf } from '@creel/contract';
import type { CapturedRequest, Endpoint } from '@creel/contract';

/**
 * Captures are untrusted, and terminals execute control characters (ECMA-48), including the 8-bit ones such as U+009B. Bidirectional
 * controls and line separators change how the text looks.
 */
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;
const UNSAFE_IN_TEXT = /(?![\n\t])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;
const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escapeForTerminal(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const short = SHORT_ESCAPES[character];
  if (short !== undefined) return short;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}

/** Escapes unsafe characters in a single line. Backslashes stay as they are: the result is for reading, not for parsing. */
export function visible(text: string): string {
  return text.replace(UNSAFE, escapeForTerminal);
}

/** Escapes unsafe characters in text of several lines. Line feeds and tabs stay. */
export function visibleText(text: string): string {
  return text.replace(UNSAFE_IN_TEXT, escapeForTerminal);
}

/** Makes a sentence of a summary or a reason, which begin in lower case and have no period. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** One line of JSON with JSON escapes for unsafe characters, so that programs read the same value. */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value).replace(UNSAFE, escapeForJson)}\n`;
}

function escapeForJson(character: string): string {
  // All unsafe characters are in the Basic Multilingual Plane: one UTF-16 unit each.
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** True for UTF-8 without control characters other than tabs and line ends. */
export function isPlainText(bytes: Uint8Array): boolean {
  const text = textOf(bytes);
  return text !== undefined && text.replaceAll('\r\n', '\n').search(UNSAFE_IN_TEXT) < 0;
}

/** Path and query as the sender wrote them. */
export function displayTarget(request: Pick<CapturedRequest, 'path' | 'rawTarget' | 'queryParams'>): string {
  return request.path + queryOf(request);
}

/** A capture in one line: time, index, method, target, size in bytes. */
export function captureLine(request: CapturedRequest): string {
  const { timestamp, index, method, size } = request;
  const cells = [timestamp, String(index).padStart(5), method.padEnd(6), displayTarget(request), `${size} B`];
  return `${visible(cells.join('  '))}\n`;
}

/**
 * A forwarded capture in one line: time, index, method, target, event, destination if there are several, status, duration. `paint`
 * colors the status.
 */
export function deliveryLine(
  request: CapturedRequest,
  destination: string | undefined,
  status: string,
  durationMs: number,
  paint: (text: string) => string,
): string {
  const { timestamp, index, method, eventType } = request;
  const what = [timestamp, String(index).padStart(5), method.padEnd(6), displayTarget(request), eventType ?? '-'];
  const to = destination === undefined ? [] : [destination];
  return `${visible([...what, '→', ...to].join('  '))}  ${paint(visible(status))}  ${Math.round(durationMs)} ms\n`;
}

/** One line per endpoint. The name is last because it can contain spaces and wide characters. */
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

/** Method and target, headers, an empty line, and the body if it is text, escaped for a terminal. */
export function requestText(request: CapturedRequest): string {
  const headers = request.rawHeaders.map(([name, value]) => `${visible(name)}: ${visible(value)}\n`).join('');
  return `${visible(`${request.method} ${displayTarget(request)}`)}\n${headers}\n${bodyText(request)}`;
}

function bodyText({ body, bodyEncoding }: CapturedRequest): string {
  if (body === null || body === '' || bodyEncoding === 'base64') return '';
  const text = visibleText(body);
  return text.endsWith('\n') ? text : `${text}\n`;
}
