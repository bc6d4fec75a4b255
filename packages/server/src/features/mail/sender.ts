/**
 * Who mails come from where MAIL_FROM does not say: nobody in particular at the host of the public address. An address of numbers
 * stands in brackets (RFC 5321 4.1.3).
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
