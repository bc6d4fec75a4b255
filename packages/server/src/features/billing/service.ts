import type { BillingInterval, Money, ParsedBody, PlanChangePreview, Tier } from '@creel/contract';
import { randomUUID } from 'node:crypto';
import { withTimeout } from '../../limits/timeouts.ts';
import { ProblemError, invalid } from '../../http/problem.ts';
import { isOwnOrigin } from '../../http/same-origin.ts';
import type { UserRecord } from '../../database/records.ts';
import { GatewayError } from './gateway.ts';
import type { BillingGateway } from './gateway.ts';
import { chooseSubscription, downgradeEffect, isDowngrade } from './rules.ts';
import type { PlanPrice, SubscriptionState } from './rules.ts';
import { SubscriptionSync, tooLong } from './subscription-sync.ts';
import type { SyncOptions } from './subscription-sync.ts';
import type { Config } from '../../config.ts';
import { isoTime } from '../../iso-time.ts';
import { StripeGateway } from './stripe-gateway.ts';
import { TestGateway } from './test-gateway.ts';

const MINUTE_MS = 60_000;
/** Milliseconds after which the user gets a response, even if the gateway is slower. */
const ANSWER_MS = 28_000;
/** For a plan from `DEFAULT_TIER`. */
const NOTHING_TO_CANCEL = 'There is no subscription to cancel. This server gave you your plan without one.';
const BILLING_SENTENCES = {
  checkout: 'Failed to create checkout session',
  portal: 'Failed to create portal session',
  change: 'Failed to change subscription tier',
  deletion: 'Your account was not deleted, because the payment service could not be reached. Please try again.',
} as const;

export interface BillingOptions extends SyncOptions {
  readonly publicUrl: () => string;
}

/** Plans and payment. The gateway is authoritative: every change is read back from it before it is stored. */
export class Billing {
  readonly gateway: BillingGateway;
  /** Reads subscriptions from the gateway after events and in the background. */
  readonly sync: SubscriptionSync;
  readonly #options: BillingOptions;

  constructor(options: BillingOptions) {
    this.#options = options;
    this.gateway = options.gateway;
    this.sync = new SubscriptionSync(options);
  }

  /**
   * Starts a checkout and returns its URL. `host`: the host that the caller used for this server. @throws ProblemError
   * ALREADY_ON_FREE, ALREADY_SUBSCRIBED, NO_SUBSCRIPTION, BILLING_FAILED, VALIDATION_FAILED
   */
  async startCheckout(
    user: UserRecord,
    { tier, interval, returnUrl: returnTo }: ParsedBody<'createCheckout'>,
    host?: string,
  ): Promise<string> {
    const returnUrl = this.#ownUrl(returnTo, host);
    if (tier === 'FREE')
      throw user.stripeSubscriptionId === null ? notSubscribed(user, tier) : new ProblemError('ALREADY_SUBSCRIBED');
    const plan = { tier, interval };
    return this.#runLocked('checkout', user.id, async (owner) => {
      const customerId = await this.#ensureCustomer(user);
      try {
        return await this.#openCheckout(user, customerId, owner, plan, returnUrl);
      } catch (error) {
        if (!(error instanceof GatewayError && error.reason === 'customer')) throw error;
        // A user with a subscription could get a second one: the provider may know the customer under another key.
        if ((await this.#options.store.findUser(user.id))?.stripeSubscriptionId !== null) throw error;
        // The customer was deleted at the provider, with its subscriptions.
        await this.#options.store.forgetCustomer(user.id, randomUUID());
        return this.#openCheckout(user, await this.#ensureCustomer(user), owner, plan, returnUrl);
      }
    });
  }

  async #openCheckout(
    { id: userId, email }: UserRecord,
    customerId: string,
    owner: string,
    plan: PlanPrice,
    returnUrl: URL,
  ): Promise<string> {
    // Closes older checkouts first, so that an unpaid one can't become a second subscription.
    await this.sync.closeCheckouts(userId, customerId);
    const { current } = await this.sync.synchronize(userId, customerId, owner);
    if (current !== undefined) throw new ProblemError('ALREADY_SUBSCRIBED');
    const { store, now } = this.#options;
    const id = randomUUID();
    await store.addCheckout(id, userId, now());
    const checkout = await this.gateway.createCheckout({
      ...plan,
      id,
      userId,
      email,
      customerId,
      successUrl: withCheckout(returnUrl, 'success'),
      cancelUrl: withCheckout(returnUrl, 'canceled'),
    });
    await store.setCheckoutSession(id, checkout.id);
    await store.scheduleBillingCheck(userId, now() + MINUTE_MS);
    return checkout.url;
  }

  /** @throws ProblemError NO_SUBSCRIPTION, PORTAL_NOT_CONFIGURED, BILLING_FAILED, VALIDATION_FAILED */
  async openPortal(user: UserRecord, returnTo: string, host?: string): Promise<string> {
    const returnUrl = this.#ownUrl(returnTo, host);
    const { stripeCustomerId: customerId } = user;
    if (customerId === null) throw new ProblemError('NO_SUBSCRIPTION');
    return this.#withApiErrors('portal', this.gateway.openPortal(customerId, returnUrl.href));
  }

  /**
   * Changes the plan: FREE cancels at the end of the period, the current plan revokes a cancellation, another one
   * changes the price. @throws ProblemError ALREADY_ON_FREE, NO_SUBSCRIPTION, PAYMENT_FAILED, BILLING_FAILED
   */
  async changePlan(user: UserRecord, wanted: ParsedBody<'changeSubscription'>): Promise<UserRecord> {
    const { stripeCustomerId: customerId } = user;
    if (customerId === null) throw notSubscribed(user, wanted.tier);
    return this.#runLocked('change', user.id, async (owner) => {
      // Read first, because a recent purchase may not be stored yet.
      const { current, user: now } = await this.sync.synchronize(user.id, customerId, owner);
      if (current === undefined) throw notSubscribed(now, wanted.tier);
      await this.#applyChange(customerId, current, wanted);
      return (await this.sync.synchronize(user.id, customerId, owner)).user;
    });
  }

  async #applyChange(
    customerId: string,
    current: SubscriptionState,
    { tier, interval = current.interval }: ParsedBody<'changeSubscription'>,
  ): Promise<void> {
    if (tier === 'FREE') {
      if (current.endsAt === null) await this.gateway.cancelAtPeriodEnd(customerId, current.id);
    } else if (tier !== current.tier || interval !== current.interval) {
      await this.gateway.changePlan(customerId, current, { tier, interval });
    } else if (current.endsAt !== null) {
      await this.gateway.renew(customerId, current);
    }
  }

  /** The endpoints that a plan change would delete, and its charge, by the same rule that applies it. */
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
      at: tier === 'FREE' ? isoTime(endsAt) : null,
      losesFavorites,
      expiresInMs,
      amount,
    };
  }

  async #previewAmount(user: UserRecord, to: PlanPrice) {
    const { stripeCustomerId: customerId, stripeSubscriptionId: id } = user;
    if (customerId === null || id === null) return null;
    const read = async (): Promise<Money | null> => {
      const states = await this.gateway.listSubscriptions(customerId, user);
      const from = states.find((state) => state.id === id);
      return from === undefined ? null : this.gateway.previewChange(customerId, from, to);
    };
    try {
      return await withTimeout(ANSWER_MS, read(), tooLong);
    } catch (error) {
      // A preview without the amount is still useful.
      this.#options.log.warn({ err: error }, 'the amount of a plan change could not be previewed');
      return null;
    }
  }

  /** Ends the subscription before its account is deleted. @throws ProblemError BILLING_FAILED */
  async endFor({ id: userId }: UserRecord): Promise<void> {
    await this.#runLocked('deletion', userId, async () => {
      // Read under the lock, because a checkout may have just created the customer.
      const user = await this.#options.store.findUser(userId);
      const customerId = user?.stripeCustomerId ?? null;
      if (user === undefined || customerId === null) return;
      await this.sync.closeCheckouts(user.id, customerId);
      const states = await this.gateway.listSubscriptions(customerId, user);
      const { current, extra } = chooseSubscription(states, user.stripeSubscriptionId);
      for (const { id } of current === undefined ? extra : [current, ...extra])
        await this.gateway.cancelNow(customerId, id);
    });
  }

  /**
   * The user's customer at the gateway. Its idempotency key is stored first, so that a crash never creates a second
   * one. After an error it is replaced, because Stripe repeats the error for the same key for a day.
   */
  async #ensureCustomer(user: UserRecord): Promise<string> {
    const { store } = this.#options;
    const known = (await store.findUser(user.id))?.stripeCustomerId ?? null;
    if (known !== null) return known;
    const account = await store.findBillingAccount(user.id);
    if (account === undefined) throw new ProblemError('NOT_SIGNED_IN');
    const customerId = await this.gateway.createCustomer(user, account.customer_key).catch(async (error: unknown) => {
      const hasFailed = error instanceof GatewayError && error.reason === 'failed';
      if (hasFailed) await store.forgetCustomer(user.id, randomUUID());
      throw error;
    });
    await store.setCustomer(user.id, customerId);
    return customerId;
  }

  /** Runs a user's work under the account's lock. */
  async #runLocked<T>(
    what: keyof typeof BILLING_SENTENCES,
    userId: number,
    work: (owner: string) => Promise<T>,
  ): Promise<T> {
    return this.#withApiErrors(what, this.sync.locks.run(userId, work));
  }

  /** Waits for a user's work with a time limit, and converts its errors to those of the API. */
  async #withApiErrors<T>(what: keyof typeof BILLING_SENTENCES, work: Promise<T>): Promise<T> {
    try {
      return await withTimeout(ANSWER_MS, work, tooLong);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.#options.log.warn({ err: error, what }, 'a call to the payment service failed');
      if (error.reason === 'payment') throw new ProblemError('PAYMENT_FAILED');
      if (error.reason === 'portal') throw new ProblemError('PORTAL_NOT_CONFIGURED');
      throw new ProblemError('BILLING_FAILED', { sentence: BILLING_SENTENCES[what] });
    }
  }

  /** A URL of this installation. @throws ProblemError VALIDATION_FAILED for another origin */
  #ownUrl(text: string, host: string | undefined): URL {
    const publicUrl = this.#options.publicUrl();
    const url = URL.parse(text, publicUrl);
    if (url === null || !isOwnOrigin(url.origin, host, publicUrl) || url.username !== '' || url.password !== '')
      throw invalid({ returnUrl: 'returnUrl must be an address of this site' });
    return url;
  }
}

/** Why a user without a subscription can't change to a plan. */
function notSubscribed({ subscriptionTier }: UserRecord, wanted: Tier): ProblemError {
  if (wanted !== 'FREE') return new ProblemError('NO_SUBSCRIPTION');
  if (subscriptionTier === 'FREE') return new ProblemError('ALREADY_ON_FREE');
  return new ProblemError('NO_SUBSCRIPTION', { sentence: NOTHING_TO_CANCEL });
}

function withCheckout(returnUrl: URL, outcome: 'success' | 'canceled'): string {
  const url = new URL(returnUrl);
  url.searchParams.set('checkout', outcome);
  if (outcome === 'canceled') return url.href;
  const { hash } = url;
  url.hash = '';
  // Stripe replaces the braces, so they must not be encoded.
  return `${url.href}&session_id={CHECKOUT_SESSION_ID}${hash}`;
}

/** Creates billing for the configuration; `undefined` when it is off. */
export function createBilling(
  config: Pick<Config, 'billing' | 'stripe'>,
  options: Omit<BillingOptions, 'gateway'>,
): Billing | undefined {
  const { billing, stripe } = config;
  if (billing === 'test') return new Billing({ ...options, gateway: new TestGateway(options) });
  if (billing === 'off' || stripe === undefined) return undefined;
  return new Billing({ ...options, gateway: new StripeGateway({ ...options, config: stripe }) });
}
