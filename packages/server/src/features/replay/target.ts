import { ProblemError } from '../../http/problem.ts';
import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';
import { withTimeout } from '../../limits/timeouts.ts';
import { CANCELLED, Resolver, TIMEOUT, lookup } from 'node:dns/promises';
import { codeOf } from '../../error-code.ts';
import { FairQueue } from '../../limits/fair-queue.ts';
import { SharedReads } from '../../limits/shared-reads.ts';
import { hostOf } from '../../url-host.ts';
import { ReplayFailure } from './replay-failure.ts';

/** The parsed URL of a replay or a delivery. */
export type Target = Readonly<ReturnType<typeof parseTarget>>;

/** Services that could read a request as commands: FTP, SSH, Telnet, mail, news, chat, and two databases. */
const OTHER_SERVICES: ReadonlySet<number> = new Set([
  21, 22, 23, 25, 110, 119, 143, 465, 587, 993, 995, 6379, 6667, 6697, 11_211,
]);

const PORT_SENTENCE = 'This destination is not allowed. Its port belongs to another service than HTTP.';

/** Parses a URL that `targetUrlSchema` has accepted. */
export function parseTarget(text: string) {
  const url = new URL(text);
  const isSecure = url.protocol === 'https:';
  const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port);
  return {
    isSecure,
    host: hostOf(url),
    port,
    /** The `Host` header: the host, with the port if it is not the scheme's default (RFC 9110 7.2). */
    authority: url.host,
    /** Path and query, exactly as written. */
    path: pathOf(text, url),
  };
}

/**
 * The path and query of a URL exactly as written. `URL` would resolve dots and change the encoding, but a user who
 * debugs a server wants to send the exact path. Characters that a request line can't contain are encoded as `URL` does.
 */
function pathOf(text: string, url: URL): string {
  const [, written] = /^https?:\/\/[^/?#\\]+([^#]*)/i.exec(text) ?? [];
  if (written === undefined || !/^(?:[/?][!-~]*)?$/.test(written)) return url.pathname + url.search;
  return written.startsWith('/') ? written : `/${written}`;
}

/**
 * The class of an address. `public`: on the internet. `private`: this machine or a network around it, allowed with
 * `ALLOW_PRIVATE_TARGETS`. `never`: always forbidden, above all the metadata services of clouds.
 */
export type Reach = 'public' | 'private' | 'never';

/** Addresses that ipaddr.js does not classify as needed. */
const SPECIAL_ADDRESSES = {
  /**
   * Internal services at ordinary-looking addresses: Azure's host, Alibaba's metadata, AWS's services over IPv6, and the
   * metadata of Google, Oracle, Scaleway, Akamai and Alibaba.
   */
  cloud: [
    '168.63.129.16/32',
    '100.100.100.200/32',
    'fd00:ec2::/32',
    'fd20:ce::254/128',
    'fd00:c1::a9fe:a9fe/128',
    'fd00:42::42/128',
    'fd00:a9fe:a9fe::1/128',
    'fd00:100::100:200/128',
  ].map((range) => ipaddr.parseCIDR(range)),
  /**
   * The unspecified addresses. They reach this machine on most systems, and servers print them when they listen on all
   * interfaces. Test networks (RFC 2544), which some VPN clients use for every name.
   */
  private: ['0.0.0.0/32', '::/128', '198.18.0.0/15'].map((range) => ipaddr.parseCIDR(range)),
};

const PRIVATE_RANGES: ReadonlySet<string> = new Set(['loopback', 'private', 'carrierGradeNat', 'uniqueLocal']);

/** The only allocated IPv6 addresses (RFC 4291 2.4). Others may mean anything, for example `::127.0.0.1`. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** The class of an address; `never` for an invalid one. */
export function reachOf(address: string): Reach {
  if (isIP(address) === 0) return 'never';
  // As the host of a URL. ipaddr.js reads `::127.0.0.1`, as DNS returns it, as IPv4, and `::7f00:1` as IPv6.
  const url = URL.parse(`http://${isIP(address) === 6 ? `[${address}]` : address}`);
  if (url === null) return 'never';
  // IPv4-mapped IPv6 addresses count as IPv4.
  const parsed = ipaddr.process(hostOf(url));
  const special = ipaddr.subnetMatch(parsed, SPECIAL_ADDRESSES);
  if (special === 'cloud') return 'never';
  const range = parsed.range();
  if (special === 'private' || PRIVATE_RANGES.has(range)) return 'private';
  const isGlobal = parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_IPV6);
  return range === 'unicast' && isGlobal ? 'public' : 'never';
}

/** Whether a replay may connect to the address. */
export function isAllowed(address: string, allowPrivate: boolean): boolean {
  const reach = reachOf(address);
  return reach === 'public' || (allowPrivate && reach === 'private');
}

/** The user who named the target, and a signal that aborts when nobody waits for the addresses any more. */
interface LookupCaller {
  readonly userId: number;
  readonly signal: AbortSignal;
}

/** All addresses of a name. @throws when it has none */
export type Lookup = (name: string, caller: LookupCaller) => Promise<readonly string[]>;

/** Time limit of a lookup in milliseconds, and the number of attempts within it. */
const MAX_MS = 5000;
const TRY_MS = 2000;
const TRIES = 2;
/** Maximum number of addresses to try. */
const MAX_ADDRESSES = 8;

/** Lookups of the system that run in one thread at a time, of all users and of one. */
const SYSTEM_LOOKUPS = { concurrency: 6, concurrencyPerOwner: 4 };

/**
 * A lookup that can't be canceled, of which one user gets only a few at a time. A name whose name server does not answer
 * takes one of the process's few threads for up to half a minute, and would delay all other names. So all who ask for a
 * name meanwhile wait for the same lookup.
 */
export function limitedPerUser(lookUp: (name: string) => Promise<readonly string[]>): Lookup {
  const queue = new FairQueue(SYSTEM_LOOKUPS);
  const lookups = new SharedReads<string, readonly string[]>();
  const begin = (name: string): Promise<readonly string[]> => lookups.run(name, () => lookUp(name));
  return async (name, { userId, signal }) => lookups.running(name) ?? queue.run(userId, () => begin(name), signal);
}

/** Resolves like the system, with its hosts file and search domains, so that `web` in a private network works. */
export const lookUpOnSystem = limitedPerUser(async (name) =>
  (await lookup(name, { all: true })).map(({ address }) => address),
);

/** Public DNS only: no hosts file or search domain makes a name internal. Slow lookups don't fill libuv's pool. */
export const lookUpInPublic: Lookup = async (name) => {
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
  // Before the time limit of the lookup, because one family can have an answer while the other one waits.
  const timer = setTimeout(() => resolver.cancel(), TRIES * TRY_MS).unref();
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  clearTimeout(timer);
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const [first] = answers;
  if (addresses.length === 0 && first.status === 'rejected') throw first.reason;
  return addresses;
};

interface TargetRules {
  readonly allowPrivate: boolean;
  readonly lookUp: Lookup;
  readonly userId: number;
}

/**
 * Checks the port of a target, resolves its host, and checks every address. A connection to only these addresses
 * reaches nothing that is not allowed, even if DNS changes afterwards. One forbidden address rejects the whole name.
 * @throws ProblemError TARGET_NOT_ALLOWED, and ReplayFailure when the name has no address
 */
export async function resolveTarget(
  { host, port }: Pick<Target, 'host' | 'port'>,
  { allowPrivate, lookUp, userId }: TargetRules,
): Promise<readonly string[]> {
  if (OTHER_SERVICES.has(port)) throw new ProblemError('TARGET_NOT_ALLOWED', { sentence: PORT_SENTENCE });
  if (!allowPrivate && isThisMachine(host)) throw new ProblemError('TARGET_NOT_ALLOWED');
  const addresses = isIP(host) === 0 ? await addressesOf(host, lookUp, userId) : [host];
  if (!addresses.every((address) => isAllowed(address, allowPrivate))) throw new ProblemError('TARGET_NOT_ALLOWED');
  return addresses.slice(0, MAX_ADDRESSES);
}

/** `localhost` and its subdomains (RFC 6761 6.3). */
function isThisMachine(host: string): boolean {
  return /(^|\.)localhost\.?$/i.test(host);
}

async function addressesOf(name: string, lookUp: Lookup, userId: number): Promise<readonly string[]> {
  const unneeded = new AbortController();
  const late = (): Error => new ReplayFailure(`The name ${name} could not be looked up in time.`);
  try {
    const found = await withTimeout(MAX_MS, lookUp(name, { userId, signal: unneeded.signal }), late);
    if (found.length > 0) return found;
    throw new ReplayFailure(`The name ${name} has no address.`);
  } catch (error) {
    if (error instanceof ReplayFailure) throw error;
    const code = codeOf(error);
    throw code === TIMEOUT || code === CANCELLED ? late() : new ReplayFailure(`The name ${name} could not be found.`);
  } finally {
    unneeded.abort();
  }
}
