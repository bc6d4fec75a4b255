import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';
import type { Socket } from 'node:net';

type Range = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

/** A parsed list of proxies, with a cache of verdicts. */
interface TrustedRanges {
  readonly ranges: readonly Range[];
  readonly verdicts: Map<string, boolean>;
}

/** The configured list is one array for the life of the server, so it is parsed once. */
const understood = new WeakMap<readonly string[], TrustedRanges>();

/** Maximum number of cached verdicts. A server behind proxies has few peers. */
const MAX_VERDICTS = 1000;

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
  const { ranges, verdicts } = rangesOf(trusted);
  const known = verdicts.get(address);
  if (known !== undefined) return known;
  if (verdicts.size >= MAX_VERDICTS) verdicts.clear();
  const verdict = isWithin(address, ranges);
  verdicts.set(address, verdict);
  return verdict;
}

function isWithin(address: string, ranges: readonly Range[]): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.process(address);
  return ranges.some(([range, bits]) => range.kind() === parsed.kind() && parsed.match(range, bits));
}

function rangesOf(trusted: readonly string[]): TrustedRanges {
  const known = understood.get(trusted);
  if (known !== undefined) return known;
  const ranges = { ranges: trusted.map(toRange), verdicts: new Map<string, boolean>() };
  understood.set(trusted, ranges);
  return ranges;
}

/** An IPv4 range in IPv6 notation means the IPv4 addresses. */
function toRange(entry: string): Range {
  const [text = '', prefix] = entry.split('/');
  const address = ipaddr.parse(text);
  const bits = prefix === undefined ? (address.kind() === 'ipv4' ? 32 : 128) : Number(prefix);
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96
    ? [address.toIPv4Address(), bits - 96]
    : [address, bits];
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
