import ipaddr from 'ipaddr.js';
import type { IncomingMessage } from 'node:http';

/** An address as it is shown and counted: IPv4 in its own form even where the socket speaks IPv6. */
export function normalAddress(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}

/**
 * The peer's address; where the peer is a trusted proxy, the nearest address in `X-Forwarded-For` that is not one. Anybody can send
 * that header, so without `TRUST_PROXY` it means nothing (contract 3).
 */
export function clientAddress(request: IncomingMessage, trusted: readonly string[]): string {
  const peer = normalAddress(request.socket.remoteAddress ?? '');
  if (trusted.length === 0 || !isTrusted(peer, trusted)) return peer;
  const forwarded = request.headers['x-forwarded-for'] ?? '';
  const hops = (Array.isArray(forwarded) ? forwarded.join(',') : forwarded).split(',').map((hop) => hop.trim());
  let nearest = peer;
  for (const hop of hops.toReversed()) {
    if (!ipaddr.isValid(hop)) break;
    nearest = normalAddress(hop);
    if (!isTrusted(nearest, trusted)) break;
  }
  return nearest;
}

function isTrusted(address: string, trusted: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return trusted.some((entry) => {
    const [range, bits] = ipaddr.parseCIDR(
      entry.includes('/') ? entry : `${entry}/${ipaddr.parse(entry).kind() === 'ipv4' ? 32 : 128}`,
    );
    return range.kind() === parsed.kind() && parsed.match([range, bits]);
  });
}
