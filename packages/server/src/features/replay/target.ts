import { ProblemError } from '../../http/problem.ts';

/** Where a replay goes. */
export interface Target {
  readonly isSecure: boolean;
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  /** What stands in the `Host` header: the host, and the port where it is not the scheme's own (RFC 9110 7.2). */
  readonly authority: string;
  /** Path and query, as they were written. */
  readonly path: string;
}

/**
 * Ports of services that could take the lines of a request for commands: FTP, SSH, Telnet, mail, news, chat, and two databases whose
 * commands are lines of text.
 */
const OTHER_SERVICES: ReadonlySet<number> = new Set([
  21, 22, 23, 25, 110, 119, 143, 465, 587, 993, 995, 6379, 6667, 6697, 11_211,
]);

const PORT_SENTENCE = 'This target is not allowed. Its port belongs to another service than HTTP.';

/** Reads a URL that `targetUrlSchema` has let through. */
export function parseTarget(text: string): Target {
  const url = new URL(text);
  const isSecure = url.protocol === 'https:';
  const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  return { isSecure, host, port, authority: url.host, path: pathOf(text, url) };
}

/**
 * A URL's path and query as they were written: `URL` would take dots for steps and spell some characters anew, but who looks for a
 * mistake in their own server wants to send just this. What can't stand in a request line is spelt as `URL` does it.
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
