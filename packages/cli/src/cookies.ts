/** A server's cookies as a program keeps them: one host, every path. */
export type Cookies = Readonly<Record<string, string>>;

/** For the `Cookie` header; empty when there are none. */
export function cookieHeader(cookies: Cookies): string {
  return Object.entries(cookies)
    .map(([name, value]) => `${name}=${value}`)
    .join('; ');
}

/**
 * The cookies after an answer's `Set-Cookie` lines (RFC 6265 5.2). A `Secure` one that came over plain http is not taken, loopback
 * excepted: it would travel in the clear.
 */
export function takeCookies(cookies: Cookies, lines: readonly string[], server: string): Cookies {
  const next = new Map(Object.entries(cookies));
  for (const line of lines) {
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
    const [name = '', value = ''] = pair.split(/=(.*)/s, 2);
    if (name === '' || (attributes.some((one) => /^secure$/i.test(one)) && !isPrivate(server))) continue;
    if (attributes.some(isOver)) next.delete(name);
    else next.set(name, value);
  }
  return Object.fromEntries(next);
}

function isOver(attribute: string): boolean {
  const [key = '', text = ''] = attribute.split(/=(.*)/s, 2);
  return /^max-age$/i.test(key) ? Number(text) <= 0 : /^expires$/i.test(key) && Date.parse(text) < Date.now();
}

/** True where nobody on the way can listen. */
function isPrivate(server: string): boolean {
  const { protocol, hostname } = new URL(server);
  return protocol === 'https:' || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
