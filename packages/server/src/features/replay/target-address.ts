import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';

/**
 * What an address is to us. `public`: on the internet, for everybody. `private`: this machine or a network around it, for whoever allows
 * it (`ALLOW_PRIVATE_TARGETS`). `never`: no target for anybody, above all where clouds keep their machines' secrets (contract 8).
 */
export type Reach = 'public' | 'private' | 'never';

/** Clouds' own services at addresses that look like others: Azure's host, Alibaba's metadata; AWS's and Google's metadata over IPv6. */
const CLOUD_SERVICES: ReadonlySet<string> = new Set([
  '168.63.129.16',
  '100.100.100.200',
  'fd00:ec2::254',
  'fd20:ce::254',
]);

/** "Any address": what a server that listens everywhere prints, and on most systems this machine itself. */
const ANY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

const PRIVATE_RANGES: ReadonlySet<string> = new Set(['loopback', 'private', 'carrierGradeNat', 'uniqueLocal']);

/** Test networks (RFC 2544), which some VPN clients give to every name that they look up. */
const BENCHMARK_NETWORK = ipaddr.IPv4.parseCIDR('198.18.0.0/15');
/** The only IPv6 addresses that are given out (RFC 4291 2.4); what is outside may be anything, `::127.0.0.1` for one. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Where an address leads; one that is none leads nowhere. */
export function reachOf(address: string): Reach {
  if (isIP(address) === 0) return 'never';
  // IPv4 within IPv6 is IPv4.
  const parsed = ipaddr.process(address);
  const normal = parsed.toString();
  if (CLOUD_SERVICES.has(normal)) return 'never';
  const range = parsed.range();
  if (PRIVATE_RANGES.has(range) || ANY_ADDRESS.has(normal)) return 'private';
  if (parsed instanceof ipaddr.IPv4 && parsed.match(BENCHMARK_NETWORK)) return 'private';
  const isGlobal = parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_IPV6);
  return range === 'unicast' && isGlobal ? 'public' : 'never';
}

/** Whether a replay may go there. */
export function isAllowed(address: string, allowPrivate: boolean): boolean {
  const reach = reachOf(address);
  return reach === 'public' || (allowPrivate && reach === 'private');
}
