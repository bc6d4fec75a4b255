import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';

/**
 * The class of an address. `public`: on the internet. `private`: this machine or a network around it, allowed with
 * `ALLOW_PRIVATE_TARGETS`. `never`: always forbidden, above all the metadata services of clouds.
 */
export type Reach = 'public' | 'private' | 'never';

/**
 * Cloud services at ordinary-looking addresses: Azure's host, Alibaba's metadata; AWS's and Google's metadata over
 * IPv6.
 */
const CLOUD_SERVICES: ReadonlySet<string> = new Set([
  '168.63.129.16',
  '100.100.100.200',
  'fd00:ec2::254',
  'fd20:ce::254',
]);

/**
 * The unspecified address. Servers print it when they listen on all interfaces, and on most systems it reaches this
 * machine.
 */
const ANY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

const PRIVATE_RANGES: ReadonlySet<string> = new Set(['loopback', 'private', 'carrierGradeNat', 'uniqueLocal']);

/** Test networks (RFC 2544), which some VPN clients use for every name. */
const BENCHMARK_NETWORK = ipaddr.IPv4.parseCIDR('198.18.0.0/15');
/** The only allocated IPv6 addresses (RFC 4291 2.4). Others may mean anything, for example `::127.0.0.1`. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** The class of an address; `never` for an invalid one. */
export function reachOf(address: string): Reach {
  if (isIP(address) === 0) return 'never';
  // IPv4-mapped IPv6 addresses count as IPv4.
  const parsed = ipaddr.process(address);
  const normal = parsed.toString();
  if (CLOUD_SERVICES.has(normal)) return 'never';
  const range = parsed.range();
  if (PRIVATE_RANGES.has(range) || ANY_ADDRESS.has(normal)) return 'private';
  if (parsed instanceof ipaddr.IPv4 && parsed.match(BENCHMARK_NETWORK)) return 'private';
  const isGlobal = parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_IPV6);
  return range === 'unicast' && isGlobal ? 'public' : 'never';
}

/** Whether a replay may connect to the address. */
export function isAllowed(address: string, allowPrivate: boolean): boolean {
  const reach = reachOf(address);
  return reach === 'public' || (allowPrivate && reach === 'private');
}
