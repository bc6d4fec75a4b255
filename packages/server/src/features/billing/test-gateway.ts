import type { Money, TestCheckout, TestCheckoutAction, TestPortalAction, TestSubscription } from '@creel/contract';
import { ProblemError } from '../../http/problem.ts';
import { GatewayError } from './gateway.ts';
import type { BillingGateway, CheckoutInput } from './gateway.ts';
import type { Remote } from '../../database/remote.ts';
import type { billingQueries } from './queries.ts';
import { centsOf, isChargedNow } from './rules.ts';
import type { PlanPrice, SubscriptionState } from './rules.ts';
import {
  changeSubscription,
  endOf,
  expireCheckout,
  letTimePass,
  newSimulatedCustomer,
  openCheckout,
  payCheckout,
  simulatedCustomerSchema,
} from './simulation.ts';
import type { SimulatedCustomer, SimulatedSubscription, SubscriptionChange } from './simulation.ts';

/** Begins the id of each customer. Ids of Stripe have only letters and digits after the first underscore. */
export const TEST_CUSTOMER = 'cus_test_';
const CHECKOUT_SECONDS = 3600;
const CURRENCY = 'usd';
/** A subscription without a cancellation. */
const RENEWED = { cancelAtPeriodEnd: false, cancelAt: null };

export interface TestGatewayOptions {
  readonly store: Pick<Remote<typeof billingQueries>, 'addTestCustomer' | 'findTestCustomer' | 'saveTestCustomer'>;
  readonly now: () => number;
}

/** The built-in gateway: simulated subscriptions with their state in the database. No card is charged. */
export class TestGateway implements BillingGateway {
  readonly recheckMs = 60_000;
  readonly #options: TestGatewayOptions;

  constructor(options: TestGatewayOptions) {
    this.#options = options;
  }

  async createCustomer(user: { readonly id: number }, key: string): Promise<string> {
    const customerId = `${TEST_CUSTOMER}${key}`;
    await this.#options.store.addTestCustomer(customerId, JSON.stringify(newSimulatedCustomer(customerId)), user.id);
    return customerId;
  }

  async createCheckout(input: CheckoutInput): Promise<{ id: string; url: string }> {
    const customer = await this.#load(input.customerId);
    const { tier, interval, email, successUrl, cancelUrl } = input;
    const expiresAt = this.#nowOf(customer) + CHECKOUT_SECONDS;
    const opened = openCheckout(customer, { tier, interval, email, successUrl, cancelUrl, expiresAt });
    await this.#save(opened);
    const id = opened.checkouts.at(-1)?.id ?? '';
    return { id, url: pageBeside(successUrl, `checkout/${id}`) };
  }

  async expireCheckout(customerId: string, id: string): Promise<void> {
    await this.#change(customerId, (customer) => expireCheckout(customer, id));
  }

  async isCheckoutOpen(customerId: string, id: string): Promise<boolean> {
    const { checkouts } = await this.#load(customerId);
    return checkouts.some((checkout) => checkout.id === id && checkout.status === 'open');
  }

  async listSubscriptions(customerId: string): Promise<readonly SubscriptionState[]> {
    return (await this.#load(customerId)).subscriptions.map(toState);
  }

  async changePlan(customerId: string, from: SubscriptionState, to: PlanPrice): Promise<void> {
    const { cardFails } = await this.#load(customerId);
    if (cardFails && isChargedNow(from, to)) throw new GatewayError('payment', 'The card was declined.');
    await this.#changeSubscription(customerId, from.id, { tier: to.tier, interval: to.interval, ...RENEWED });
  }

  async cancelAtPeriodEnd(customerId: string, id: string): Promise<void> {
    await this.#changeSubscription(customerId, id, { cancelAtPeriodEnd: true });
  }

  async renew(customerId: string, { id }: SubscriptionState): Promise<void> {
    await this.#changeSubscription(customerId, id, RENEWED);
  }

  async cancelNow(customerId: string, id: string): Promise<void> {
    await this.#changeSubscription(customerId, id, { status: 'canceled' });
  }

  /** The difference of the list prices. Unlike Stripe, the test gateway gives no credit for unused days. */
  async previewChange(_customerId: string, from: SubscriptionState, to: PlanPrice): Promise<Money | null> {
    return { cents: isChargedNow(from, to) ? centsOf(to) - centsOf(from) : 0, currency: CURRENCY };
  }

  async openPortal(_customerId: string, returnUrl: string): Promise<string> {
    return pageBeside(returnUrl, `portal?${new URLSearchParams({ return: returnUrl }).toString()}`);
  }

  /** Its actions are calls of this server, so it sends no events. */
  readEvent(): undefined {
    return undefined;
  }

  /** @throws ProblemError CHECKOUT_NOT_FOUND */
  async showCheckout(customerId: string | null, id: string): Promise<TestCheckout> {
    const customer = customerId === null ? undefined : await this.#load(customerId);
    const checkout = customer?.checkouts.find((each) => each.id === id);
    if (checkout === undefined) throw new ProblemError('CHECKOUT_NOT_FOUND');
    const { status, tier, interval, email, cancelUrl: returnUrl } = checkout;
    return { id, status, tier, interval, price: priceTag(checkout), email, returnUrl };
  }

  /** @throws ProblemError CHECKOUT_NOT_FOUND, CHECKOUT_CLOSED, PAYMENT_FAILED */
  async decideCheckout(customerId: string | null, id: string, action: TestCheckoutAction) {
    const { status } = await this.showCheckout(customerId, id);
    if (status !== 'open' || customerId === null) throw new ProblemError('CHECKOUT_CLOSED');
    if (action === 'decline')
      throw new ProblemError('PAYMENT_FAILED', { sentence: 'The card was declined. Please try another card.' });
    const customer = await this.#change(customerId, (before, now) =>
      action === 'pay' ? payCheckout(before, id, now) : expireCheckout(before, id),
    );
    const checkout = customer.checkouts.find((each) => each.id === id);
    const returnUrl = (action === 'pay' ? checkout?.successUrl : checkout?.cancelUrl) ?? '';
    return { returnUrl: returnUrl.replace('{CHECKOUT_SESSION_ID}', id) };
  }

  /** @throws ProblemError NO_SUBSCRIPTION */
  async showSubscription(customerId: string | null): Promise<TestSubscription> {
    const { customer, subscription } = await this.#subscriptionOf(customerId);
    const { id, tier, interval, status, periodEnd } = subscription;
    const endsAt = endOf(subscription);
    return {
      id,
      tier,
      interval,
      price: priceTag(subscription),
      status,
      currentPeriodEnd: isoOf(periodEnd),
      cancelAt: endsAt === null ? null : isoOf(endsAt),
      now: isoOf(this.#nowOf(customer)),
    };
  }

  /** @throws ProblemError NO_SUBSCRIPTION, ACTION_NOT_POSSIBLE */
  async act(customerId: string | null, action: TestPortalAction): Promise<TestSubscription> {
    const { customer, subscription } = await this.#subscriptionOf(customerId);
    const isPossible =
      action === 'recover-payment' ? subscription.status === 'past_due' : subscription.status !== 'canceled';
    if (!isPossible) throw new ProblemError('ACTION_NOT_POSSIBLE');
    await this.#change(customer.id, (before, now) => actOn(before, subscription, action, now));
    return this.showSubscription(customerId);
  }

  /** The newest subscription, including an ended one. */
  async #subscriptionOf(customerId: string | null) {
    const customer = customerId === null ? undefined : await this.#load(customerId);
    const isRunning = ({ status }: SimulatedSubscription): boolean => status !== 'canceled';
    const subscription = customer?.subscriptions.findLast(isRunning) ?? customer?.subscriptions.at(-1);
    if (customer === undefined || subscription === undefined) throw new ProblemError('NO_SUBSCRIPTION');
    return { customer, subscription };
  }

  /** The current time in seconds on the customer's test clock. */
  #nowOf(customer: SimulatedCustomer): number {
    return Math.floor(this.#options.now() / 1000) + customer.clockAhead;
  }

  /** The customer after everything that is due has been applied. */
  async #load(customerId: string): Promise<SimulatedCustomer> {
    const stored = await this.#options.store.findTestCustomer(customerId);
    if (stored === undefined) throw new GatewayError('customer', `No such customer: ${customerId}`);
    const customer = simulatedCustomerSchema.parse(JSON.parse(stored));
    return letTimePass(customer, this.#nowOf(customer));
  }

  async #save(customer: SimulatedCustomer): Promise<void> {
    await this.#options.store.saveTestCustomer(customer.id, JSON.stringify(customer));
  }

  async #change(customerId: string, change: (customer: SimulatedCustomer, now: number) => SimulatedCustomer) {
    const before = await this.#load(customerId);
    const customer = change(before, this.#nowOf(before));
    await this.#save(customer);
    return customer;
  }

  async #changeSubscription(customerId: string, id: string, change: SubscriptionChange): Promise<void> {
    await this.#change(customerId, (customer, now) => changeSubscription(customer, id, change, now));
  }
}

function actOn(
  customer: SimulatedCustomer,
  { id, periodEnd }: SimulatedSubscription,
  action: TestPortalAction,
  now: number,
): SimulatedCustomer {
  switch (action) {
    case 'cancel':
      return changeSubscription(customer, id, { cancelAtPeriodEnd: true }, now);
    case 'renew':
      return changeSubscription(customer, id, RENEWED, now);
    case 'recover-payment':
      return { ...changeSubscription(customer, id, { status: 'active' }, now), cardFails: false };
    case 'end-now':
      return changeSubscription(customer, id, { status: 'canceled' }, now);
    case 'advance':
    case 'fail-payment': {
      const cardFails = customer.cardFails || action === 'fail-payment';
      const clockAhead = customer.clockAhead + Math.max(0, periodEnd - now);
      return letTimePass({ ...customer, cardFails, clockAhead }, Math.max(now, periodEnd));
    }
  }
}

/** A page of this gateway at the origin to which the browser returns, because only there it is logged in. */
function pageBeside(returnUrl: string, page: string): string {
  return new URL(`/billing/test/${page}`, returnUrl).href;
}

function toState(subscription: SimulatedSubscription): SubscriptionState {
  const { id, tier, interval, status, created, periodEnd, cancelAtPeriodEnd } = subscription;
  const endsAt = endOf(subscription);
  return {
    id,
    itemId: id,
    tier,
    interval,
    status,
    createdAt: created * 1000,
    periodEndAt: periodEnd * 1000,
    endsAt: endsAt === null ? null : endsAt * 1000,
    canceledBy: cancelAtPeriodEnd ? 'flag' : null,
  };
}

function priceTag(plan: PlanPrice): Money {
  return { cents: centsOf(plan), currency: CURRENCY };
}

function isoOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
