import { within } from '../../limits/within.ts';
import { Resolver, lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { ProblemError } from '../../http/problem.ts';
import { ReplayFailure } from './replay-failure.ts';
import { isAllowed } from './target-address.ts';

/** All addresses of a name. @throws when it has none */
export type Lookup = (name: string) => Promise<readonly string[]>;

/** Time limit of a lookup in milliseconds, and the number of attempts within it. */
const MAX_MS = 5000;
const TRY_MS = 2000;
const TRIES = 2;
/** Maximum number of addresses to try. */
const MAX_ADDRESSES = 8;

/** Resolves like the system, with its hosts file and search domains, so that `web` in a private network works. */
export const lookUpOnSystem: Lookup = async (name) => (await lookup(name, { all: true })).map(({ address }) => address);

/**
 * Resolves in public DNS only: no hosts file or search domain can make a name internal. It also avoids libuv's pool,
 * which slow lookups would fill.
 */
export const lookUpInPublic: Lookup = async (name) => {
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const [first] = answers;
  if (addresses.length === 0 && first.status === 'rejected') throw first.reason;
  return addresses;
};

export interface TargetRules {
  readonly allowPrivate: boolean;
  readonly lookUp: Lookup;
}

/**
 * Resolves a target and checks every address. A connection to only these addresses reaches nothing that is not allowed,
 * even if DNS changes afterwards. One forbidden address rejects the whole name. @throws ProblemError TARGET_NOT_ALLOWED
 * @throws ReplayFailure when the name has no address
 */
export async function resolveTarget(host: string, { allowPrivate, lookUp }: TargetRules): Promise<readonly string[]> {
  if (!allowPrivate && isThisMachine(host)) throw new ProblemError('TARGET_NOT_ALLOWED');
  const addresses = isIP(host) === 0 ? await addressesOf(host, lookUp) : [host];
  if (!addresses.every((address) => isAllowed(address, allowPrivate))) throw new ProblemError('TARGET_NOT_ALLOWED');
  return addresses.slice(0, MAX_ADDRESSES);
}

/** `localhost` and its subdomains (RFC 6761 6.3). */
function isThisMachine(host: string): boolean {
  return /(^|\.)localhost\.?$/i.test(host);
}

async function addressesOf(name: string, lookUp: Lookup): Promise<readonly string[]> {
  try {
    const late = (): Error => new ReplayFailure(`The name ${name} could not be looked up in time.`);
    const found = await within(MAX_MS, lookUp(name), late);
    if (found.length > 0) return found;
    throw new ReplayFailure(`The name ${name} has no address.`);
  } catch (error) {
    if (error instanceof ReplayFailure) throw error;
    throw new ReplayFailure(`The name ${name} could not be found.`);
  }
}
