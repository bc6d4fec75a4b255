import ipaddr from 'ipaddr.js';
import { BlockList, isIP, isIPv4 } from 'node:net';
import type { Socket } from 'node:net';

/** Trusted proxies by family, so that a wide IPv6 range does not include IPv4. */
type TrustedRanges = Readonly<Record<'ipv4' | 'ipv6', BlockList>>;

/** An address in its normal form: IPv4 as IPv4, even on an IPv6 socket. */
export function normalAddress(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}

interface AddressedRequest {
  /** The flat list of names and values, which every request has. */
  readonly rawHeaders: readonly string[];
  readonly socket: Pick<Socket, 'remoteAddress'>;
}

export type ClientAddressOf = (request: AddressedRequest) => string;

/**
 * Makes the function that returns the client's address of a request. It is the peer's address. If the peer is a trusted
 * proxy, it is the nearest untrusted address in `X-Forwarded-For`. Clients can forge the header, so it is read from the
 * right, up to the first entry that is untrusted or invalid.
 */
export function clientAddressReader(trusted: readonly string[]): ClientAddressOf {
  const ranges = parseRanges(trusted);
  return ({ rawHeaders, socket }) => {
    const peer = normalAddress(socket.remoteAddress ?? '');
    if (trusted.length === 0 || !isTrusted(peer, ranges)) return peer;
    const hops = forwardedFor(rawHeaders).split(',');
    let nearest = peer;
    for (const hop of hops.toReversed()) {
      const address = addressIn(hop.trim());
      if (address === undefined) break;
      nearest = address;
      if (!isTrusted(nearest, ranges)) break;
    }
    return nearest;
  };
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

function isTrusted(address: string, ranges: TrustedRanges): boolean {
  // A link-local address may name its interface.
  const [bare = ''] = address.split('%');
  if (isIP(bare) === 0) return false;
  const family = isIPv4(bare) ? 'ipv4' : 'ipv6';
  return ranges[family].check(bare, family);
}

function parseRanges(trusted: readonly string[]): TrustedRanges {
  const ranges = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const entry of trusted) {
    const [address = '', prefix] = entry.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    const bits = Number(prefix ?? (family === 'ipv4' ? 32 : 128));
    // An IPv4 range in IPv6 notation means the IPv4 addresses.
    const isMapped = bits >= 96 && ipaddr.process(address).kind() === 'ipv4';
    ranges[isMapped ? 'ipv4' : family].addSubnet(address, bits, family);
  }
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
