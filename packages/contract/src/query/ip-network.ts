import type { IpNetwork } from './query.ts';

const BITS_PER_BYTE = 8;
/** The first 12 bytes of an IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2). */
const MAPPED_BYTES = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255];
const MAPPED_BITS = MAPPED_BYTES.length * BITS_PER_BYTE;

/** Parses an address or a block such as `10.0.0.0/8`. Returns `undefined` for any other text. */
export function parseIpNetwork(text: string): IpNetwork | undefined {
  const [address = '', length, ...more] = text.split('/');
  const bytes = parseAddress(address);
  if (bytes === undefined || more.length > 0) return undefined;
  const bits = bytes.length * BITS_PER_BYTE;
  if (length !== undefined && (!/^(?:0|[1-9]\d{0,2})$/.test(length) || Number(length) > bits)) return undefined;
  const prefix = length === undefined ? bits : Number(length);
  return unmapped(
    bytes.map((byte, place) => byte & maskOf(prefix, place)),
    prefix,
  );
}

/** Formats a block as text that `parseIpNetwork` parses back. */
export function printIpNetwork({ bytes, prefix }: IpNetwork): string {
  const address = bytes.length === 4 ? bytes.join('.') : groupsOf(bytes).join(':');
  return prefix === bytes.length * BITS_PER_BYTE ? address : `${address}/${prefix}`;
}

/** True if an address is in a block. */
export function isInNetwork(address: string, network: IpNetwork): boolean {
  const bytes = parseAddress(address.split('%')[0] ?? '');
  if (bytes === undefined) return false;
  const plain = unmapped(bytes, bytes.length * BITS_PER_BYTE).bytes;
  if (plain.length !== network.bytes.length) return false;
  return plain.every((byte, place) => (byte & maskOf(network.prefix, place)) === network.bytes[place]);
}

/** Mask of the prefix bits in the byte at `place`. */
function maskOf(prefix: number, place: number): number {
  const kept = Math.min(Math.max(prefix - place * BITS_PER_BYTE, 0), BITS_PER_BYTE);
  return (0xff << (BITS_PER_BYTE - kept)) & 0xff;
}

/** A server that listens on IPv6 sees IPv4 clients as mapped addresses, so both forms are the same address. */
function unmapped(bytes: readonly number[], prefix: number): IpNetwork {
  if (bytes.length !== 16 || prefix < MAPPED_BITS) return { bytes, prefix };
  if (!MAPPED_BYTES.every((byte, place) => bytes[place] === byte)) return { bytes, prefix };
  return { bytes: bytes.slice(MAPPED_BYTES.length), prefix: prefix - MAPPED_BITS };
}

function parseAddress(text: string): number[] | undefined {
  return text.includes(':') ? parseIpv6(text) : parseIpv4(text);
}

function parseIpv4(text: string): number[] | undefined {
  const parts = text.split('.');
  const isValid = parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256);
  return isValid ? parts.map(Number) : undefined;
}

/** URLs normalize IPv6 addresses to hex groups with at most one `::` (WHATWG URL, section 3.5). */
function parseIpv6(text: string): number[] | undefined {
  if (!/^[\da-f:.]+$/i.test(text) || !URL.canParse(`http://[${text}]`)) return undefined;
  const [head, tail = []] = new URL(`http://[${text}]`).hostname.slice(1, -1).split('::').map(bytesOfGroups);
  return head && [...head, ...Array.from({ length: 16 - head.length - tail.length }, () => 0), ...tail];
}

function bytesOfGroups(text: string): number[] {
  const groups = text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  return groups.flatMap((value) => [value >> BITS_PER_BYTE, value & 0xff]);
}

function groupsOf(bytes: readonly number[]): string[] {
  return Array.from({ length: 8 }, (_, group) =>
    (((bytes[group * 2] ?? 0) << BITS_PER_BYTE) | (bytes[group * 2 + 1] ?? 0)).toString(16),
  );
}
