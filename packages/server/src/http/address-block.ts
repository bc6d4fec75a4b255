import ipaddr from 'ipaddr.js';

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
