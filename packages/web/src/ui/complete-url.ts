/** `localhost:4000/x`, `10.0.0.7`, `[::1]:80`, `app:3000`, `api.shop.test/hook`: host, port, and the rest. */
const WITHOUT_SCHEME = /^(\[[\da-f:.]+\]|[a-z\d-]+(?:\.[a-z\d-]+)*)(:\d{1,5})?(?:[/?#].*)?$/i;
const IP_ADDRESS = /^(\[.*\]|\d+(\.\d+){3})$/;

/**
 * Adds the scheme that a user left out: http for this machine, IP addresses, and hosts with a port; https for other
 * domain names. Returns any other text unchanged, without surrounding spaces.
 */
export function completeUrl(text: string): string {
  const url = text.trim();
  const [, host = '', port] = WITHOUT_SCHEME.exec(url) ?? [];
  if (host === '') return url;
  if (port !== undefined || IP_ADDRESS.test(host) || /(^|\.)localhost$/i.test(host)) return `http://${url}`;
  return host.includes('.') ? `https://${url}` : url;
}
