import { isIP, isIPv4 } from 'node:net';
import { z } from 'zod';

/** What a variable may hold. Each message goes on where the variable's name ended: "PORT must be a whole number". */

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

/** An http or https URL, without slashes at the end. */
export const httpUrl = z
  .string()
  .refine(isHttpUrl, { error: 'must be an http or https URL' })
  .transform((text) => text.replace(/\/+$/, ''));

/** An issuer's identifier. Kept to the letter: its slash at the end belongs to its name (OpenID Connect Discovery 4.3). */
export const issuerUrl = z.string().refine(isHttpUrl, { error: 'must be an http or https URL' });

/** What mails come from: an address, or a name with an address in angle brackets (RFC 5322 3.4). */
export const mailbox = z.string().regex(/^(?:[^\p{Cc}<>]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@,;]+@[^\s<>@,;]+)$/u, {
  error: 'must be an address, or a name with an address such as Creel <creel@example.com>',
});

/** Scheme, host and port: pages and calls lie at the root, so that a path would lead nowhere. */
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

/** The same, with a host in it. */
export const urlOfHostWith = (protocols: readonly string[]) =>
  urlWith(protocols).refine((text) => !hasScheme(text, protocols) || new URL(text).hostname !== '', {
    error: 'must name a host',
  });

/** What a server listens on. */
export const hostName = z
  .string()
  .refine((text) => isIP(text) !== 0 || /^[a-z\d](?:[a-z\d.-]{0,251}[a-z\d])?$/i.test(text), {
    error: 'must be an address or the name of a host',
  });

/** Addresses and CIDRs, separated by commas. */
export const addressList = z
  .string()
  .transform((text) => text.split(',').map((entry) => entry.trim()))
  .refine((entries) => entries.every(isAddressOrCidr), { error: 'must be addresses or CIDRs, separated by commas' });

function isAddressOrCidr(entry: string): boolean {
  const [address = '', prefix, ...rest] = entry.split('/');
  if (isIP(address) === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (isIPv4(address) ? 32 : 128));
}
