/**
 * The default sender: a no-reply address at the host of the public URL. An IP address is in brackets (RFC 5321 4.1.3).
 */
export function defaultSender(publicUrl: string): string {
  const { hostname } = new URL(publicUrl);
  const domain = /^[\d.]+$/.test(hostname)
    ? `[${hostname}]`
    : hostname.startsWith('[')
      ? `[IPv6:${hostname.slice(1, -1)}]`
      : hostname;
  return `Creel <no-reply@${domain}>`;
}
