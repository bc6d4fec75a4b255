import ipaddr from 'ipaddr.js';
import { BlockList, isIP, isIPv4 } from 'node:net';
import type { Socket } from 'node:net';

/** Trusted proxies by family, so that a wide IPv6 range does not include IPv4. */
type TrustedRanges = Readonly<Record<'ipv4' | 'ipv6', BlockList>>;

/** The configured list is one array for the life of the server, so it is parsed once. */
const parsedRanges = new WeakMap<readonly string[], TrustedRanges>();

/** An address in its normal form: IPv4 as IPv4, even on an IPv6 socket. */
export function normalAddress(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}

/**
 * The peer's address, or, if the peer is a trusted proxy, the nearest untrusted address in `X-Forwarded-For`. Clients
 * can forge the header, so it is read from the right, up to the first entry that is untrusted or invalid. Reads the
 * flat list of names and values, which every request has.
 */
export function clientAddress(
  request: { readonly rawHeaders: readonly string[]; readonly socket: Pick<Socket, 'remoteAddress'> },
  trusted: readonly string[],
): string {
  const peer = normalAddress(request.socket.remoteAddress ?? '');
  if (trusted.length === 0 || !isTrusted(peer, trusted)) return peer;
  const hops = forwardedFor(request.rawHeaders).split(',');
  let nearest = peer;
  for (const hop of hops.toReversed()) {
    const address = addressIn(hop.trim());
    if (address === undefined) break;
    nearest = address;
    if (!isTrusted(nearest, trusted)) break;
  }
  return nearest;
}

/** The header's value, its lines joined (RFC 9110 5.3). */
function forwardedFor(rawHeaders: readonly string[]): string {
  return rawHeaders
    .filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'x-forwarded-for')
    .join(',');
}

/** The normalized address of an entry; some proxies add a port. */
function addressIn(hop: string): string | undefined {
  const [, bracketed, bare] = /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(hop) ?? [];
  const address = bracketed ?? bare ?? hop;
  return isIP(address) === 0 ? undefined : ipaddr.process(address).toString();
}

function isTrusted(address: string, trusted: readonly string[]): boolean {
  // A link-local address may name its interface.
  const [bare = ''] = address.split('%');
  if (isIP(bare) === 0) return false;
  const family = isIPv4(bare) ? 'ipv4' : 'ipv6';
  return rangesOf(trusted)[family].check(bare, family);
}

function rangesOf(trusted: readonly string[]): TrustedRanges {
  const known = parsedRanges.get(trusted);
  if (known !== undefined) return known;
  const ranges = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const entry of trusted) {
    const [address = '', prefix] = entry.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    const bits = Number(prefix ?? (family === 'ipv4' ? 32 : 128));
    // An IPv4 range in IPv6 notation means the IPv4 addresses.
    const isMapped = bits >= 96 && ipaddr.process(address).kind() === 'ipv4';
    ranges[isMapped ? 'ipv4' : family].addSubnet(address, bits, family);
  }
  parsedRanges.set(trusted, ranges);
  return ranges;
}

/** Groups of an IPv6 address that identify a customer. The customer can vary the rest (RFC 6177). */
const NETWORK_GROUPS = 4;

/** What counts as one client: an IPv4 address, or the /64 network of an IPv6 address. */
export function addressBlock(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const network = parsed.parts.slice(0, NETWORK_GROUPS).map((group) => group.toString(16));
  return `${network.join(':')}::/64`;
}
