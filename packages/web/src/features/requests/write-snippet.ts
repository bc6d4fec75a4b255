import { firstHeader } from '@creel/contract';
import { readWholeBody, readWholeRequest } from '../../api/body-queries.ts';
import type { ListedRequest } from '../../api/request-list.ts';
import { toBase64 } from '../../bodies/encoding.ts';
import { counted } from '../../ui/format.ts';
import { sendable } from './sendable.ts';
import type { Sendable } from './sendable.ts';

/** The snippet languages. */
export const SNIPPET_NAMES = {
  curl: 'cURL',
  fetch: 'fetch',
  httpie: 'HTTPie',
  python: 'Python',
  http: 'Raw HTTP',
} as const;
export type SnippetName = keyof typeof SNIPPET_NAMES;

/** Writes a captured request as a snippet. Existing libraries merge repeated headers. */
export const WRITERS: Readonly<Record<SnippetName, (request: Sendable) => string>> = {
  curl,
  fetch: fetchCall,
  httpie,
  python,
  http: rawHttp,
};

/** Linux limits one argument to 128 KiB (MAX_ARG_STRLEN). */
const MAX_ARGUMENT_BYTES = 100 * 1024;

/** curl sends `Expect: 100-continue` for larger bodies. */
const CURL_ASKS_FROM = 1024 * 1024;

const CONTINUED = ' \\\n  ';

function fitsArgument({ text, bytes }: Sendable): boolean {
  return text !== undefined && bytes.length <= MAX_ARGUMENT_BYTES;
}

/**
 * Runs a command with the body on standard input. It is in base64, which the shell and the argument list can't change.
 */
function piped(request: Sendable, command: string): string {
  const lines = toBase64(request.bytes).replaceAll(/.{76}(?=.)/g, '$&\n');
  return `base64 --decode <<'BODY' | ${command}\n${lines}\nBODY`;
}

/** curl and HTTPie add headers of their own. These options remove those that were not sent. */
function switchedOff({ headers, bytes }: Sendable, own: readonly string[]): string[] {
  const names = bytes.length > 0 ? [...own, 'Content-Type'] : own;
  return names.filter((name) => firstHeader(headers, name.toLowerCase()) === undefined);
}

function curl(request: Sendable): string {
  const { method, url, headers, bytes, text } = request;
  const hasBody = bytes.length > 0;
  const parts = ['curl'];
  if (method === 'HEAD' && !hasBody) parts.push('--head');
  else if (method !== 'GET' || hasBody) parts.push(`-X ${quoteText(method)}`);
  if (/\/\.{1,2}(\/|$|\?)/.test(url)) parts.push('--path-as-is');
  if (/[[\]{}]/.test(url)) parts.push('--globoff');
  const lines = [`${parts.join(' ')} ${quoteLatin1(url)}`];
  for (const [name, value] of headers) lines.push(`-H ${quoteLatin1(value === '' ? `${name};` : `${name}: ${value}`)}`);
  for (const name of switchedOff(request, ['Accept', 'User-Agent'])) lines.push(`-H '${name}:'`);
  if (bytes.length >= CURL_ASKS_FROM) lines.push("-H 'Expect:'");
  if (hasBody && fitsArgument(request)) lines.push(`--data-raw ${quoteText(text ?? '')}`);
  if (!hasBody || fitsArgument(request)) return lines.join(CONTINUED);
  return piped(request, [...lines, '--data-binary @-'].join(CONTINUED));
}

function httpie(request: Sendable): string {
  const { method, url, headers, bytes, text } = request;
  const lines = [`http --path-as-is ${quoteText(method)} ${quoteLatin1(url)}`];
  for (const [name, value] of headers)
    lines.push(quoteLatin1(value === '' ? `${name};` : `${name}:${value.replace(/^[=:@]/, String.raw`\$&`)}`));
  for (const name of switchedOff(request, ['Accept', 'Accept-Encoding', 'User-Agent']))
    lines.push(quoteText(`${name}:`));
  if (bytes.length === 0) return lines.join(CONTINUED);
  if (fitsArgument(request)) return [...lines, `--raw ${quoteText(text ?? '')}`].join(CONTINUED);
  return piped(request, lines.join(CONTINUED));
}

function fetchCall({ method, url, headers, bytes, text }: Sendable): string {
  const options = [`  method: ${JSON.stringify(method)},`, '  headers: ['];
  for (const pair of headers) options.push(`    [${pair.map((part) => JSON.stringify(part)).join(', ')}],`);
  options.push('  ],');
  if (bytes.length > 0) {
    const body =
      text === undefined
        ? `Uint8Array.from(atob('${toBase64(bytes)}'), (byte) => byte.charCodeAt(0))`
        : JSON.stringify(text);
    options.push(`  body: ${body},`);
  }
  return `const response = await fetch(${JSON.stringify(url)}, {\n${options.join('\n')}\n});\nconsole.log(response.status, await response.text());`;
}

/** Uses the standard library, which sends headers as written, with repeats and order. */
function python({ method, url, headers, bytes, text }: Sendable): string {
  const [, scheme, host = '', target = '/'] = /^(https?):\/\/([^/]*)(.*)$/.exec(url) ?? [];
  const lines = ['import http.client'];
  if (bytes.length > 0 && text === undefined) lines.unshift('import base64');
  lines.push(
    '',
    `connection = http.client.${scheme === 'https' ? 'HTTPSConnection' : 'HTTPConnection'}(${JSON.stringify(host)})`,
  );
  lines.push(`connection.putrequest(${JSON.stringify(method)}, ${JSON.stringify(target)}, skip_accept_encoding=True)`);
  for (const pair of headers)
    lines.push(`connection.putheader(${pair.map((part) => JSON.stringify(part)).join(', ')})`);
  if (bytes.length > 0) {
    lines.push(
      `body = ${text === undefined ? `base64.b64decode("${toBase64(bytes)}")` : `${JSON.stringify(text)}.encode()`}`,
    );
    lines.push('connection.putheader("Content-Length", str(len(body)))', 'connection.endheaders(body)');
  } else {
    lines.push('connection.endheaders()');
  }
  return [...lines, 'response = connection.getresponse()', 'print(response.status, response.read().decode())'].join(
    '\n',
  );
}

/** The message as on the wire. Binary bodies are only counted. */
function rawHttp({ method, url, headers, bytes, text }: Sendable): string {
  const [, host = '', target = '/'] = /^https?:\/\/([^/]*)(.*)$/.exec(url) ?? [];
  const length: [string, string][] = bytes.length > 0 ? [['Content-Length', String(bytes.length)]] : [];
  const lines = [['Host', host] as const, ...headers, ...length].map(([name, value]) => `${name}: ${value}\r\n`);
  const body = text ?? `[${counted(bytes.length, 'byte')} of binary data]`;
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

/** A sample request for a new endpoint, in each language. */
export function tryItSnippet(name: Exclude<SnippetName, 'http'>, captureUrl: string): string {
  const text = '{"hello":"world"}';
  // Not `--json`, which curl knows only since 7.82 (2022).
  if (name === 'curl')
    return [`curl ${quoteText(captureUrl)}`, "-H 'Content-Type: application/json'", `-d ${quoteText(text)}`].join(
      CONTINUED,
    );
  if (name === 'httpie') return `http POST ${quoteText(captureUrl)} hello=world`;
  const bytes = new TextEncoder().encode(text);
  const request: Sendable = {
    method: 'POST',
    url: captureUrl,
    headers: [['Content-Type', 'application/json']],
    bytes,
    text,
  };
  return WRITERS[name](request);
}

const PLAIN = /^[\w@%+=:,./-]+$/;
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\x00-\x09\x0b-\x1f\x7f]/;
// oxlint-disable-next-line no-control-regex -- everything but ASCII is what is looked for
const BEYOND_ASCII = /[^\x00-\x7f]/;
const UNSAFE_BYTE = /[^\x20-\x7e]|['\\]/g;
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const UNSAFE_CHARACTER = /[\x00-\x1f\x7f'\\]/g;

/**
 * Quotes a text as one word for POSIX-like shells. Control characters are escaped, so that pasting the command can't
 * trigger a key.
 */
export function quoteText(text: string): string {
  if (PLAIN.test(text)) return text;
  return CONTROL.test(text) ? ansiQuote(text, false) : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Quotes Latin-1 text such as paths and headers. The bytes stay the same in every encoding of the terminal. */
export function quoteLatin1(text: string): string {
  return BEYOND_ASCII.test(text) ? ansiQuote(text, true) : quoteText(text);
}

/** `$'…'`, which can contain bytes as `\xff`. */
function ansiQuote(text: string, everyByte: boolean): string {
  const inner = text.replaceAll(everyByte ? UNSAFE_BYTE : UNSAFE_CHARACTER, (character) => {
    if (character === "'" || character === '\\') return `\\${character}`;
    if (character === '\n') return String.raw`\n`;
    return `\\x${(character.codePointAt(0) ?? 0).toString(16).padStart(2, '0')}`;
  });
  return `$'${inner}'`;
}

/** A captured request as a snippet that sends it again. */
export async function snippetOf(
  name: SnippetName,
  uid: string,
  request: ListedRequest,
  captureUrl: string,
): Promise<string> {
  const [bytes, whole] = await Promise.all([readWholeBody(uid, request), readWholeRequest(uid, request)]);
  return WRITERS[name](sendable(whole, captureUrl, bytes));
}
