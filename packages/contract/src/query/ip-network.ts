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

/** Parses eight groups with one optional `::`. The last two groups may be an IPv4 address (RFC 4291, section 2.2). */
function parseIpv6(text: string): number[] | undefined {
  const [before = '', after, ...more] = text.split('::');
  if (more.length > 0) return undefined;
  const head = bytesOfGroups(before, after === undefined);
  const tail = after === undefined ? [] : bytesOfGroups(after, true);
  if (head === undefined || tail === undefined) return undefined;
  const missing = 16 - head.length - tail.length;
  if (after === undefined ? missing !== 0 : missing < 2) return undefined;
  return [...head, ...Array.from({ length: missing }, () => 0), ...tail];
}

function bytesOfGroups(text: string, isEnd: boolean): number[] | undefined {
  if (text === '') return [];
  const groups = text.split(':');
  const bytes: number[] = [];
  for (const [place, group] of groups.entries()) {
    if (isEnd && place === groups.length - 1 && group.includes('.')) {
      const ipv4 = parseIpv4(group);
      if (ipv4 === undefined) return undefined;
      bytes.push(...ipv4);
    } else if (/^[\da-f]{1,4}$/i.test(group)) {
      const value = Number.parseInt(group, 16);
      bytes.push(value >> BITS_PER_BYTE, value & 0xff);
    } else {
      return undefined;
    }
  }
  return bytes;
}

function groupsOf(bytes: readonly number[]): string[] {
  return Array.from({ length: 8 }, (_, group) =>
    (((bytes[group * 2] ?? 0) << BITS_PER_BYTE) | (bytes[group * 2 + 1] ?? 0)).toString(16),
  );
}
