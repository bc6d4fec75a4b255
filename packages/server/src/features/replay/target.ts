import { ProblemError } from '../../http/problem.ts';

/** The destination of a replay. */
export interface Target {
  readonly isSecure: boolean;
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  /** The `Host` header: the host, with the port if it is not the scheme's default (RFC 9110 7.2). */
  readonly authority: string;
  /** Path and query, exactly as written. */
  readonly path: string;
}

/**
 * Ports of services that could read a request's lines as commands: FTP, SSH, Telnet, mail, news, chat, and two
 * databases with a text protocol.
 */
const OTHER_SERVICES: ReadonlySet<number> = new Set([
  21, 22, 23, 25, 110, 119, 143, 465, 587, 993, 995, 6379, 6667, 6697, 11_211,
]);

const PORT_SENTENCE = 'This destination is not allowed. Its port belongs to another service than HTTP.';

/** Parses a URL that `targetUrlSchema` has accepted. */
export function parseTarget(text: string): Target {
  const url = new URL(text);
  const isSecure = url.protocol === 'https:';
  const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  return { isSecure, host, port, authority: url.host, path: pathOf(text, url) };
}

/**
 * The path and query of a URL exactly as written. `URL` would resolve dots and change the encoding, but a user who
 * debugs a server wants to send the exact path. Characters that a request line can't contain are encoded as `URL` does.
 */
function pathOf(text: string, url: URL): string {
  const [, written] = /^https?:\/\/[^/?#\\]+([^#]*)/i.exec(text) ?? [];
  if (written === undefined || !/^[!-[\]-~]*$/.test(written)) return url.pathname + url.search;
  return written.startsWith('/') ? written : `/${written}`;
}

/** @throws ProblemError TARGET_NOT_ALLOWED for a port of another service */
export function checkPort({ port }: Target): void {
  if (OTHER_SERVICES.has(port)) throw new ProblemError('TARGET_NOT_ALLOWED', { sentence: PORT_SENTENCE });
}
