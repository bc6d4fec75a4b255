import { isIP, isIPv4 } from 'node:net';
import { z } from 'zod';

/**
 * Schemas for environment variables. Each message continues after the variable's name: "PORT must be a whole number".
 */

/** A whole number in decimal digits. */
export const whole = (from: number, to = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .regex(/^\d+$/, { error: 'must be a whole number' })
    .transform(Number)
    .refine((value) => value >= from && value <= to, {
      error: to === Number.MAX_SAFE_INTEGER ? `must be ${from} or more` : `must be from ${from} to ${to}`,
    });

/** `true` or `false`. */
export const flag = z.enum(['true', 'false'], { error: 'must be true or false' }).transform((text) => text === 'true');

const isHttpUrl = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

/** An http or https URL, without trailing slashes. */
export const httpUrl = z
  .string()
  .refine(isHttpUrl, { error: 'must be an http or https URL' })
  .transform((text) => text.replace(/\/+$/, ''));

/** An issuer's identifier, kept unchanged: its trailing slash is significant (OpenID Connect Discovery 4.3). */
export const issuerUrl = z.string().refine(isHttpUrl, { error: 'must be an http or https URL' });

/** The sender of mails: an address, or a name with an address in angle brackets (RFC 5322 3.4). */
export const mailbox = z.string().regex(/^(?:[^\p{Cc}<>]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@,;]+@[^\s<>@,;]+)$/u, {
  error: 'must be an address, or a name with an address such as Creel <creel@example.com>',
});

/** Scheme, host and port. Pages and calls are served at the root, so a path would not work. */
export const httpOrigin = z
  .string()
  .refine((text) => isHttpUrl(text) && new URL(text).href === `${new URL(text).origin}/`, {
    error: 'must be an http or https URL without a path, such as https://hooks.example.com',
  })
  .transform((text) => new URL(text).origin);

/** Text of a length. */
export const characters = (from: number, to: number) =>
  z
    .string()
    .min(from, { error: `must have ${from} characters or more` })
    .max(to, { error: `must have ${to} characters at most` });

function hasScheme(text: string, protocols: readonly string[]): boolean {
  return URL.canParse(text) && protocols.includes(new URL(text).protocol);
}

/** A URL with one of these schemes. */
export const urlWith = (protocols: readonly string[]) =>
  z.string().refine((text) => hasScheme(text, protocols), {
    error: `must be a URL that begins with ${protocols.join('// or ')}//`,
  });

/** A URL with one of these schemes and a host. */
export const urlOfHostWith = (protocols: readonly string[]) =>
  urlWith(protocols).refine((text) => !hasScheme(text, protocols) || new URL(text).hostname !== '', {
    error: 'must name a host',
  });

/** A host name or address to listen on. */
export const hostName = z
  .string()
  .refine((text) => isIP(text) !== 0 || /^[a-z\d](?:[a-z\d.-]{0,251}[a-z\d])?$/i.test(text), {
    error: 'must be an address or the name of a host',
  });

/** Entries that are separated by commas. */
const list = z.string().transform((text) => text.split(',').map((entry) => entry.trim()));

/** Addresses and CIDRs, separated by commas. */
export const addressList = list.refine((entries) => entries.every(isAddressOrCidr), {
  error: 'must be addresses or CIDRs, separated by commas',
});

function isAddressOrCidr(entry: string): boolean {
  const [address = '', prefix, ...rest] = entry.split('/');
  if (isIP(address) === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (isIPv4(address) ? 32 : 128));
}

/** `nats://` URLs, separated by commas. */
export const natsUrls = list.refine(
  (entries) => entries.every((entry) => hasScheme(entry, ['nats:']) && new URL(entry).hostname !== ''),
  { error: 'must be URLs that begin with nats://, separated by commas' },
);
