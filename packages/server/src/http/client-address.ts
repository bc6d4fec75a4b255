import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';
import type { Socket } from 'node:net';

type Range = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

/** What a configured list means, and what it has said of addresses. */
interface TrustedRanges {
  readonly ranges: readonly Range[];
  readonly verdicts: Map<string, boolean>;
}

/** The configured list is one array for the life of the server: it is understood once, not with every request. */
const understood = new WeakMap<readonly string[], TrustedRanges>();

/** A server's peers are a few proxies, which are asked about with every capture; of strangers no more are remembered than this. */
const MOST_VERDICTS = 1000;

/** An address as it is shown and counted: IPv4 in its own form even where the socket speaks IPv6. */
export function normalAddress(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}

/**
 * The peer's address; where the peer is a trusted proxy, the nearest address in `X-Forwarded-For` that is not one. Anybody can send
 * that header, so without `TRUST_PROXY` it means nothing (contract 3), and with it only what trusted proxies have added counts: it is
 * read from the right, and not beyond the first entry that nobody trusted has written or that is no address. Taken from the
 * flat list of names and values, of which every request has one.
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

/** The address of an entry, in its one normal form; some proxies add a port. */
function addressIn(hop: string): string | undefined {
  const [, bracketed, bare] = /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(hop) ?? [];
  const address = bracketed ?? bare ?? hop;
  return isIP(address) === 0 ? undefined : ipaddr.process(address).toString();
}

function isTrusted(address: string, trusted: readonly string[]): boolean {
  const { ranges, verdicts } = rangesOf(trusted);
  const known = verdicts.get(address);
  if (known !== undefined) return known;
  if (verdicts.size >= MOST_VERDICTS) verdicts.clear();
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

/** A range of IPv4 addresses that is written as IPv6 means the IPv4 addresses. */
function toRange(entry: string): Range {
  const [text = '', prefix] = entry.split('/');
  const address = ipaddr.parse(text);
  const bits = prefix === undefined ? (address.kind() === 'ipv4' ? 32 : 128) : Number(prefix);
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96
    ? [address.toIPv4Address(), bits - 96]
    : [address, bits];
}
