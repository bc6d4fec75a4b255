import type { BillingInterval, PlanChangePreview, Tier } from '@creel/contract';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Live } from '../../live/live.ts';
import type { Logger } from '../../log.ts';
import { ProblemError, invalid } from '../../problem.ts';
import type { Store, UserRecord } from '../../storage/store.ts';
import { AccountLocks } from './account-locks.ts';
import { GatewayError } from './gateway.ts';
import type { BillingGateway, GatewayEvent } from './gateway.ts';
import type { BillingQueries } from './queries.ts';
import { chooseSubscription, downgradeEffect, isDowngrade, stateOf } from './rules.ts';
import type { PlanPrice, SubscriptionState } from './rules.ts';

const MINUTE_MS = 60_000;
/** The user has an answer after this time, whatever the gateway does. */
const ANSWER_MS = 28_000;
/** How long showing a page may wait for the gateway after a checkout. */
const SETTLE_MS = 5_000;
const SETTLE_AGAIN_MS = 2_000;
/** Stripe repeats an event for three days, and lists it for thirty. */
const EVENTS_KEPT_MS = 31 * 24 * 60 * MINUTE_MS;
const ACCOUNTS_PER_ROUND = 20;
/** Events about these objects can mean a change of a subscription. */
const WATCHED = /^(customer|checkout\.session|invoice)\./;

export const BILLING_SENTENCES = {
  checkout: 'Failed to create checkout session',
  portal: 'Failed to create portal session',
  change: 'Failed to change subscription tier',
} as const;

/** The part of storage that billing needs. */
export type BillingStore = BillingQueries & Pick<Store, 'findUser' | 'listEndpoints'>;

export interface BillingOptions {
  readonly store: BillingStore;
  readonly gateway: BillingGateway;
  readonly live: Pick<Live, 'publish'>;
  readonly forgetEndpoint: (uid: string) => void;
  readonly publicUrl: () => string;
  readonly log: Logger;
  readonly now: () => number;
}

/**
 * Plans and payment. The gateway holds the truth; whatever happens (a click, an event, a check in the background), the subscription is
 * read from it again and written under the account's lock. So order, copies and losses of events do not matter.
 */
export class Billing {
  readonly gateway: BillingGateway;
  readonly #options: BillingOptions;
  readonly #locks: AccountLocks;
  /** Readings that have not begun, by user. */
  readonly #waiting = new Map<number, Promise<UserRecord | undefined>>();
  /** When the checkouts of a user were last looked at. */
  readonly #settledAt = new Map<number, number>();

  constructor(options: BillingOptions) {
    this.#options = options;
    this.gateway = options.gateway;
    this.#locks = new AccountLocks(options.store, options.now);
  }

  /**
   * Starts a checkout and returns its address.
   * @throws ProblemError ALREADY_ON_FREE, ALREADY_SUBSCRIBED, BILLING_FAILED, VALIDATION_FAILED
   */
  async startCheckout(
    user: UserRecord,
    wanted: { readonly tier: Tier; readonly interval: BillingInterval; readonly returnUrl: string },
  ): Promise<string> {
    const returnUrl = this.#ownUrl(wanted.returnUrl);
    const { tier, interval } = wanted;
    if (tier === 'FREE')
      throw new ProblemError(user.subscriptionTier === 'FREE' ? 'ALREADY_ON_FREE' : 'ALREADY_SUBSCRIBED');
    return this.#answering('checkout', user.id, async (owner) => {
      const customerId = await this.#ensureCustomer(user);
      // Closed first: what is not paid by now can't become a second subscription.
      await this.#closeCheckouts(user.id, customerId);
      const { current } = await this.#sync(user.id, customerId, owner);
      if (current !== undefined) throw new ProblemError('ALREADY_SUBSCRIBED');
      const { store, now } = this.#options;
      const id = randomUUID();
      await store.addCheckout(id, user.id, now());
      const checkout = await this.gateway.createCheckout({
        id,
        tier,
        interval,
        userId: user.id,
        email: user.email,
        customerId,
        successUrl: withCheckout(returnUrl, 'success'),
        cancelUrl: withCheckout(returnUrl, 'canceled'),
      });
      await store.setCheckoutSession(id, checkout.id);
      await store.scheduleBillingCheck(user.id, now() + MINUTE_MS);
      return checkout.url;
    });
  }

  /** @throws ProblemError NO_SUBSCRIPTION, PORTAL_NOT_CONFIGURED, BILLING_FAILED, VALIDATION_FAILED */
  async openPortal(user: UserRecord, returnTo: string): Promise<string> {
    const returnUrl = this.#ownUrl(returnTo);
    const { stripeCustomerId: customerId } = user;
    if (customerId === null) throw new ProblemError('NO_SUBSCRIPTION');
    return this.#translating('portal', this.gateway.openPortal(customerId, returnUrl.href));
  }

  /**
   * Changes the plan: FREE cancels at the end of the period, the present plan takes a cancellation back, another one changes the price.
   * @throws ProblemError ALREADY_ON_FREE, NO_SUBSCRIPTION, PAYMENT_FAILED, BILLING_FAILED
   */
  async changePlan(
    user: UserRecord,
    wanted: { readonly tier: Tier; readonly interval: BillingInterval },
  ): Promise<UserRecord> {
    const { stripeCustomerId: customerId } = user;
    const isFree = ({ subscriptionTier }: UserRecord): boolean => wanted.tier === 'FREE' && subscriptionTier === 'FREE';
    if (customerId === null) throw new ProblemError(isFree(user) ? 'ALREADY_ON_FREE' : 'NO_SUBSCRIPTION');
    return this.#answering('change', user.id, async (owner) => {
      // Read first: what was bought a moment ago may not be stored yet.
      const { current, user: now } = await this.#sync(user.id, customerId, owner);
      if (current === undefined) throw new ProblemError(isFree(now) ? 'ALREADY_ON_FREE' : 'NO_SUBSCRIPTION');
      await this.#carryOut(customerId, current, wanted);
      return (await this.#sync(user.id, customerId, owner)).user;
    });
  }

  async #carryOut(
    customerId: string,
    current: SubscriptionState,
    { tier, interval }: { readonly tier: Tier; readonly interval: BillingInterval },
  ): Promise<void> {
    const key = randomUUID();
    if (tier === 'FREE') {
      if (current.endsAt === null) await this.gateway.cancelAtPeriodEnd(customerId, current.id, key);
    } else if (tier !== current.tier || interval !== current.interval) {
      await this.gateway.changePlan(customerId, current, { tier, interval }, key);
    } else if (current.endsAt !== null) {
      await this.gateway.renew(customerId, current, key);
    }
  }

  /** What a change of plan would delete and charge, by the rule that carries it out. */
  async preview(user: UserRecord, tier: Tier, interval: BillingInterval): Promise<PlanChangePreview> {
    const { store, now } = this.#options;
    const amount = tier === 'FREE' ? null : await this.#previewAmount(user, { tier, interval });
    if (!isDowngrade(user.subscriptionTier, tier))
      return { deletes: [], at: null, losesFavorites: 0, expiresInMs: null, amount };
    const [account, endpoints] = await Promise.all([store.findBillingAccount(user.id), store.listEndpoints(user.id)]);
    const { deletes, losesFavorites, expiresInMs } = downgradeEffect(tier, endpoints, now());
    const endsAt = user.subscriptionEndAt ?? account?.period_end_at ?? null;
    return {
      deletes: deletes.map(({ uid, name, savedCount, unsavedCount }) => ({
        uid,
        name,
        requestCount: savedCount + unsavedCount,
      })),
      at: tier === 'FREE' && endsAt !== null ? new Date(endsAt).toISOString() : null,
      losesFavorites,
      expiresInMs,
      amount,
    };
  }

  async #previewAmount({ stripeCustomerId: customerId, stripeSubscriptionId: id }: UserRecord, to: PlanPrice) {
    if (customerId === null || id === null) return null;
    try {
      const states = await this.#statesOf(customerId);
      const from = states.find((state) => state.id === id);
      return from === undefined ? null : await this.gateway.previewChange(customerId, from, to);
    } catch (error) {
      // A preview without the amount is of use all the same.
      this.#options.log.warn({ err: error }, 'the amount of a plan change could not be previewed');
      return null;
    }
  }

  /** Takes a signed event. @throws ProblemError INVALID_SIGNATURE */
  async receive(body: Buffer, signature: string | undefined): Promise<void> {
    const event = this.gateway.readEvent(body, signature);
    if (event === undefined) throw new ProblemError('INVALID_SIGNATURE');
    if (event !== 'foreign') await this.receiveEvent(event);
  }

  /** Takes an event that is known to come from the gateway: recorded once, then the account is read again. */
  async receiveEvent(event: GatewayEvent): Promise<void> {
    const { store, now } = this.#options;
    if (event.customerId === null || !WATCHED.test(event.type)) return;
    const user = await store.findUserByCustomer(event.customerId);
    if (user === undefined) return;
    if (await store.recordEvent({ id: event.id, type: event.type, receivedAt: now() })) return;
    await this.refresh(user.id);
    await store.finishEvent(event.id, now());
  }

  /** Runs work on what the gateway keeps of a user while nothing else does. */
  exclusively<T>(userId: number, work: () => Promise<T>): Promise<T> {
    return this.#locks.run(userId, work);
  }

  /** Reads a user's subscription from the gateway and writes it. Calls that wait for the same account share one reading. */
  refresh(userId: number): Promise<UserRecord | undefined> {
    const waiting = this.#waiting.get(userId);
    if (waiting !== undefined) return waiting;
    const refreshed = this.#refresh(userId).finally(() => {
      if (this.#waiting.get(userId) === refreshed) this.#waiting.delete(userId);
    });
    this.#waiting.set(userId, refreshed);
    return refreshed;
  }

  async #refresh(userId: number): Promise<UserRecord | undefined> {
    const { store } = this.#options;
    return this.#locks.run(userId, async (owner) => {
      // Whatever happens from here on may be missed by this reading.
      this.#waiting.delete(userId);
      const user = await store.findUser(userId);
      const customerId = user?.stripeCustomerId ?? null;
      if (user === undefined || customerId === null) return user;
      await this.#settleCheckouts(userId, customerId);
      return (await this.#sync(userId, customerId, owner)).user;
    });
  }

  /** The user as the gateway has it, when a checkout is under way: the return from it shows the new plan although no event came yet. */
  async afterCheckout(user: UserRecord): Promise<UserRecord> {
    const { store, now, log } = this.#options;
    const last = this.#settledAt.get(user.id);
    if (last !== undefined && now() - last < SETTLE_AGAIN_MS) return user;
    if ((await store.listCheckouts(user.id)).length === 0) {
      this.#settledAt.delete(user.id);
      return user;
    }
    this.#settledAt.set(user.id, now());
    try {
      return (await within(SETTLE_MS, this.refresh(user.id))) ?? user;
    } catch (error) {
      log.warn({ err: error }, 'a checkout could not be settled yet');
      return user;
    }
  }

  /** Ends the subscription of an account that is to be deleted. @throws ProblemError BILLING_FAILED */
  async endFor(user: UserRecord): Promise<void> {
    const { stripeCustomerId: customerId } = user;
    if (customerId === null) return;
    await this.#answering('change', user.id, async () => {
      await this.#closeCheckouts(user.id, customerId);
      const states = await this.#statesOf(customerId);
      const { current, extra } = chooseSubscription(states, user.stripeSubscriptionId);
      for (const { id } of current === undefined ? extra : [current, ...extra])
        await this.gateway.cancelNow(customerId, id, `end-${id}`);
    });
  }

  /**
   * Reads accounts whose period ends or that were not looked at for long: finds what no event told, after downtime too. True when there
   * may be more to do at once.
   */
  async reconcile(signal: AbortSignal): Promise<boolean> {
    const { store, now, log } = this.#options;
    await store.forgetEvents(now() - EVENTS_KEPT_MS);
    const due = await store.listDueAccounts(now(), ACCOUNTS_PER_ROUND);
    for (const userId of due) {
      if (signal.aborted) return true;
      // Put off before it is tried, so that one account that fails holds up no other.
      await store.scheduleBillingCheck(userId, now() + MINUTE_MS);
      await this.refresh(userId).catch((error: unknown) =>
        log.warn({ err: error, userId }, 'a subscription could not be read'),
      );
    }
    return due.length === ACCOUNTS_PER_ROUND;
  }

  /** Reads the subscription that counts, cancels any second one, and writes the result. */
  async #sync(
    userId: number,
    customerId: string,
    owner: string,
  ): Promise<{ user: UserRecord; current: SubscriptionState | undefined }> {
    const { store, now } = this.#options;
    const user = await store.findUser(userId);
    const states = await this.#statesOf(customerId);
    const { current, extra } = chooseSubscription(states, user?.stripeSubscriptionId ?? null);
    for (const { id } of extra) {
      this.#options.log.warn({ userId, subscription: id }, 'canceling a second subscription');
      await this.gateway.cancelNow(customerId, id, `second-${id}`);
    }
    const checkouts = await store.listCheckouts(userId);
    const nextCheckAt = this.#nextCheckAt(current, checkouts.length > 0);
    const applied = await store.applySubscription(userId, owner, current, { now: now(), nextCheckAt });
    if (applied === undefined) throw new ProblemError('NOT_SIGNED_IN');
    if (applied === 'lost') throw new GatewayError('unavailable', 'Another process has taken over this account.');
    this.#announce(applied);
    return { user: applied.user, current };
  }

  #nextCheckAt(current: SubscriptionState | undefined, hasCheckout: boolean): number | null {
    const now = this.#options.now();
    if (hasCheckout) return now + MINUTE_MS;
    if (current === undefined) return null;
    return Math.min(now + this.gateway.recheckMs, Math.max(current.periodEndAt, now + MINUTE_MS));
  }

  #announce({ deleted, changed }: { deleted: readonly Place[]; changed: readonly Place[] }): void {
    const { live, forgetEndpoint } = this.#options;
    for (const { id, uid } of [...deleted, ...changed]) {
      forgetEndpoint(uid);
      live.publish(id, { type: deleted.some((gone) => gone.id === id) ? 'gone' : 'changed' });
    }
  }

  async #statesOf(customerId: string): Promise<SubscriptionState[]> {
    const subscriptions = await this.gateway.listSubscriptions(customerId);
    const planOf = (priceId: string): PlanPrice | undefined => this.gateway.planOf(priceId);
    return subscriptions.map((each) => stateOf(each, planOf)).filter((state) => state !== undefined);
  }

  /** The user's customer at the gateway; made with a key that is kept first, so that a crash never makes a second one. */
  async #ensureCustomer(user: UserRecord): Promise<string> {
    const { store } = this.#options;
    const known = (await store.findUser(user.id))?.stripeCustomerId ?? null;
    if (known !== null) return known;
    const account = await store.findBillingAccount(user.id);
    if (account === undefined) throw new ProblemError('NOT_SIGNED_IN');
    const customerId = await this.gateway.createCustomer(user, account.customer_key);
    await store.setCustomer(user.id, customerId);
    return customerId;
  }

  async #closeCheckouts(userId: number, customerId: string): Promise<void> {
    const { store } = this.#options;
    const checkouts = await store.listCheckouts(userId);
    for (const { sessionId } of checkouts)
      if (sessionId !== null) await this.gateway.expireCheckout(customerId, sessionId);
    await store.removeCheckouts(checkouts.map(({ id }) => id));
  }

  /** Forgets checkouts that are paid or expired; what was paid is in the list of subscriptions by then. */
  async #settleCheckouts(userId: number, customerId: string): Promise<void> {
    const { store } = this.#options;
    const settled: string[] = [];
    for (const { id, sessionId } of await store.listCheckouts(userId))
      if (sessionId === null || !(await this.gateway.isCheckoutOpen(customerId, sessionId))) settled.push(id);
    await store.removeCheckouts(settled);
  }

  /** Runs work of a user under the account's lock and within the time that the user waits. */
  async #answering<T>(
    what: keyof typeof BILLING_SENTENCES,
    userId: number,
    work: (owner: string) => Promise<T>,
  ): Promise<T> {
    return this.#translating(what, within(ANSWER_MS, this.#locks.run(userId, work)));
  }

  async #translating<T>(what: keyof typeof BILLING_SENTENCES, work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.#options.log.warn({ err: error, what }, 'the payment service did not do what was asked');
      if (error.reason === 'payment') throw new ProblemError('PAYMENT_FAILED');
      if (error.reason === 'portal') throw new ProblemError('PORTAL_NOT_CONFIGURED');
      throw new ProblemError('BILLING_FAILED', { sentence: BILLING_SENTENCES[what] });
    }
  }

  /** An address of this installation. @throws ProblemError VALIDATION_FAILED for another origin */
  #ownUrl(text: string): URL {
    const publicUrl = this.#options.publicUrl();
    const url = URL.parse(text, publicUrl);
    if (url === null || url.origin !== new URL(publicUrl).origin || url.username !== '' || url.password !== '')
      throw invalid({ returnUrl: 'returnUrl must be an address of this site' });
    return url;
  }
}

interface Place {
  readonly id: number;
  readonly uid: string;
}

function withCheckout(returnUrl: URL, outcome: 'success' | 'canceled'): string {
  const url = new URL(returnUrl);
  url.searchParams.set('checkout', outcome);
  // Stripe fills in the braces, so they must stay as they are.
  return outcome === 'success' ? `${withoutHash(url)}&session_id={CHECKOUT_SESSION_ID}${url.hash}` : url.href;
}

function withoutHash(url: URL): string {
  return url.hash === '' ? url.href : url.href.slice(0, -url.hash.length);
}

/** @throws GatewayError when the work takes longer; it goes on, and its effect is read from the gateway later. */
async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  const ended = new AbortController();
  const timeout = sleep(milliseconds, undefined, { signal: ended.signal, ref: false }).then(() => {
    throw new GatewayError('unavailable', 'The payment service took too long.');
  });
  timeout.catch(() => undefined);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    ended.abort();
  }
}
