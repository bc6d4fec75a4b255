import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { Stripe } from 'stripe';
import { listenLocally } from '../../../fixtures/listen-locally.ts';
import {
  changeSubscription,
  endOf,
  expireCheckout,
  letTimePass,
  newSimulatedCustomer,
  openCheckout,
  payCheckout,
} from '../src/features/billing/simulation.ts';
import type { SimulatedCustomer, SimulatedSubscription } from '../src/features/billing/simulation.ts';
import type { StripeConfig } from '../src/config.ts';
import { eventsOf } from './stripe-events.ts';
import { NO_DEFAULT_CONFIGURATION, Refusal } from './stripe-refusal.ts';
import { PLAN_PRICES } from '../src/features/billing/rules.ts';
import type { PlanPrice } from '../src/features/billing/rules.ts';

export const STRIPE_SETTINGS = {
  BILLING: 'stripe',
  STRIPE_SECRET_KEY: 'sk_test_creel',
  STRIPE_WEBHOOK_SECRET: 'whsec_creel',
  STRIPE_PRICE_BASIC_MONTHLY: 'price_basic_monthly',
  STRIPE_PRICE_BASIC_YEARLY: 'price_basic_yearly',
  STRIPE_PRICE_PREMIUM_MONTHLY: 'price_premium_monthly',
  STRIPE_PRICE_PREMIUM_YEARLY: 'price_premium_yearly',
} as const;

const stripePriceOf = ({ tier, interval }: PlanPrice): string => `price_${tier}_${interval}`.toLowerCase();
const stripePlanOf = (priceId: string): PlanPrice | undefined =>
  PLAN_PRICES.find((plan) => stripePriceOf(plan) === priceId);

/** An event as it is sent. Its object is a snapshot from the time of the event. */
export type WireEvent = Pick<Stripe.Event, 'id' | 'object' | 'livemode' | 'created'> & {
  readonly type: string;
  readonly data: { readonly object: { readonly id: string; readonly object: string; readonly customer: string } };
};

/** The same settings, as the server reads them. */
export const STRIPE_CONFIG: StripeConfig = {
  secretKey: STRIPE_SETTINGS.STRIPE_SECRET_KEY,
  webhookSecret: STRIPE_SETTINGS.STRIPE_WEBHOOK_SECRET,
  apiBase: undefined,
  prices: {
    BASIC: { monthly: STRIPE_SETTINGS.STRIPE_PRICE_BASIC_MONTHLY, yearly: STRIPE_SETTINGS.STRIPE_PRICE_BASIC_YEARLY },
    PREMIUM: {
      monthly: STRIPE_SETTINGS.STRIPE_PRICE_PREMIUM_MONTHLY,
      yearly: STRIPE_SETTINGS.STRIPE_PRICE_PREMIUM_YEARLY,
    },
  },
};

/** A stateful Stripe with everything that Creel uses, including the actions of users on its pages. */
export class StripeModel {
  /** Every event so far, in chronological order. */
  readonly events: WireEvent[] = [];
  /** Method and path of every call so far. */
  readonly calls: string[] = [];
  /** Responds to every call with this status while it is set. */
  outage: number | undefined;
  /** False: the account's default portal was never saved, and configurations can't be created. */
  portalWorks = true;
  readonly #now: () => number;
  readonly #customers = new Map<string, SimulatedCustomer>();
  /** Customers by the ids of their checkouts and subscriptions. */
  readonly #owners = new Map<string, string>();
  readonly #configurations = new Set<string>();
  readonly #deleted = new Set<string>();
  readonly #repriced = new Set<string>();
  readonly #answered = new Map<string, Answer>();
  #made = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  customer(id: string): SimulatedCustomer {
    const customer = this.#customers.get(id);
    if (customer === undefined) throw new Refusal(404, 'resource_missing', `No such customer: '${id}'`, 'customer');
    return customer;
  }

  /** Subscriptions that have not ended. */
  running(customerId: string): SimulatedSubscription[] {
    return this.customer(customerId).subscriptions.filter(({ status }) => status !== 'canceled');
  }

  /** Opens a checkout without Creel, like a second server that does not know of the first one. */
  openSession(customerId: string, plan: PlanPrice): string {
    const expiresAt = this.#seconds() + 3600;
    const blank = { email: '', successUrl: '', cancelUrl: '' };
    const customer = openCheckout(this.customer(customerId), { ...plan, ...blank, expiresAt });
    this.#keep(customer);
    return customer.checkouts.at(-1)?.id ?? '';
  }

  deleteCustomer(id: string): void {
    this.#customers.delete(id);
    this.#deleted.add(id);
  }

  /** The key is of another account, or of another mode. Returns how to undo that. */
  hideCustomer(id: string): () => void {
    const customer = this.customer(id);
    this.#customers.delete(id);
    return () => void this.#customers.set(id, customer);
  }

  /** The operator configures new prices. The subscription keeps its old one. */
  reprice(subscriptionId: string): void {
    this.#repriced.add(subscriptionId);
  }

  payCheckout(sessionId: string): void {
    const customer = this.#ownerOf(sessionId);
    this.#apply(payCheckout(customer, sessionId, this.#seconds()));
  }

  /** A user cancels in the portal of a subscription with flexible billing: by a date. */
  cancelInPortal(subscriptionId: string): void {
    const { customer, subscription } = this.#subscription(subscriptionId);
    this.#apply(changeSubscription(customer, subscriptionId, { cancelAt: subscription.periodEnd }, this.#seconds()));
  }

  endNow(subscriptionId: string): void {
    const { customer } = this.#subscription(subscriptionId);
    this.#apply(changeSubscription(customer, subscriptionId, { status: 'canceled' }, this.#seconds()));
  }

  recoverPayment(subscriptionId: string): void {
    const { customer } = this.#subscription(subscriptionId);
    const recovered = changeSubscription(customer, subscriptionId, { status: 'active' }, this.#seconds());
    this.#apply({ ...recovered, cardFails: false });
  }

  failPayments(customerId: string, cardFails: boolean): void {
    this.#customers.set(customerId, { ...this.customer(customerId), cardFails });
  }

  /** Advances the customer's test clock to the end of the current period. */
  advance(customerId: string): void {
    const customer = this.customer(customerId);
    const ends = this.running(customerId).map(({ periodEnd }) => periodEnd);
    const clockAhead = Math.max(customer.clockAhead, ...ends.map((end) => end - this.#seconds()));
    this.#apply(letTimePass({ ...customer, clockAhead }, this.#seconds() + clockAhead));
  }

  /** Body and signature of an event. */
  signed(event: object, secret: string = STRIPE_SETTINGS.STRIPE_WEBHOOK_SECRET, at = this.#now()): SignedEvent {
    const body = JSON.stringify(event);
    const time = Math.floor(at / 1000);
    return { body, signature: `t=${time},v1=${signatureOf(body, secret, time)}` };
  }

  /** Answers one call of the library, like fetch. */
  readonly fetch: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    const parameters = request.method === 'GET' ? url.searchParams : new URLSearchParams(await request.text());
    const { status, body } = this.answer(
      request.method,
      url.pathname,
      parameters,
      request.headers.get('idempotency-key'),
    );
    return new Response(JSON.stringify(body), {
      status,
      headers: { 'content-type': 'application/json', 'request-id': 'req_1', 'stripe-should-retry': 'false' },
    });
  };

  answer(method: string, path: string, parameters: URLSearchParams, key: string | null): Answer {
    this.calls.push(`${method} ${path}`);
    const before = key === null ? undefined : this.#answered.get(key);
    if (before !== undefined) return before;
    try {
      const answer: Answer =
        this.outage === undefined
          ? { status: 200, body: this.#route(method, path.split('/').slice(2), parameters) }
          : { status: this.outage, body: { error: { type: 'api_error', message: 'down' } } };
      // Stripe stores errors, too.
      if (key !== null) this.#answered.set(key, answer);
      return answer;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { status, code, message, param } = error;
      const type = status === 402 ? 'card_error' : 'invalid_request_error';
      return { status, body: { error: { type, message, ...(code && { code }), ...(param && { param }) } } };
    }
  }

  #route(method: string, [kind = '', id = '', ...rest]: string[], given: URLSearchParams): object {
    switch (`${method} ${kind}`) {
      case 'POST customers':
        return this.#createCustomer();
      case 'GET customers':
        return { id, object: 'customer', ...(this.#deleted.has(id) && { deleted: true }) };
      case 'POST checkout':
        return rest[0] === undefined ? this.#createSession(given) : this.#expireSession(rest[0]);
      case 'GET checkout':
        return this.#session(rest[0] ?? '');
      case 'GET subscriptions':
        return id === '' ? this.#list(given.get('customer') ?? '') : this.#show(id);
      case 'POST subscriptions':
        return this.#update(id, given);
      case 'DELETE subscriptions':
        this.endNow(id);
        return this.#show(id);
      case 'POST invoices':
        return { id: 'upcoming_in_1', object: 'invoice', amount_due: 433, currency: 'usd' };
      case 'POST billing_portal':
        return id === 'configurations' ? this.#configure() : this.#openPortal(given);
      default:
        throw new Refusal(404, undefined, `Unrecognized request URL (${method}: ${kind}).`);
    }
  }

  #createCustomer(): object {
    const id = `cus_${++this.#made}`;
    this.#customers.set(id, newSimulatedCustomer(id));
    return { id, object: 'customer' };
  }

  #createSession(given: URLSearchParams): object {
    const plan = stripePlanOf(given.get('line_items[0][price]') ?? '');
    if (plan === undefined) throw new Refusal(400, 'resource_missing', 'No such price', 'line_items[0][price]');
    if (Number(given.get('expires_at')) < this.#seconds() + 1800)
      throw new Refusal(400, undefined, 'It expires too early.');
    const customer = openCheckout(this.customer(given.get('customer') ?? ''), {
      ...plan,
      email: '',
      successUrl: given.get('success_url') ?? '',
      cancelUrl: given.get('cancel_url') ?? '',
      expiresAt: Number(given.get('expires_at')),
    });
    this.#keep(customer);
    return this.#session(customer.checkouts.at(-1)?.id ?? '');
  }

  #session(sessionId: string): object {
    const customer = this.#ownerOf(sessionId);
    const status = customer.checkouts.find(({ id }) => id === sessionId)?.status;
    const url = status === 'open' ? `https://checkout.stripe.test/${sessionId}` : null;
    return { id: sessionId, object: 'checkout.session', status, url, customer: customer.id };
  }

  #expireSession(sessionId: string): object {
    const customer = this.#ownerOf(sessionId);
    if (customer.checkouts.find(({ id }) => id === sessionId)?.status !== 'open')
      throw new Refusal(400, undefined, 'Only Checkout Sessions with a status in ["open"] can be expired.');
    this.#apply(expireCheckout(customer, sessionId));
    return this.#session(sessionId);
  }

  #list(customerId: string): object {
    const { subscriptions } = this.customer(customerId);
    return { object: 'list', data: subscriptions.map((each) => this.#present(each)) };
  }

  #show(subscriptionId: string): object {
    return this.#present(this.#subscription(subscriptionId).subscription);
  }

  #present(subscription: SimulatedSubscription): object {
    const { id, status, created, periodEnd, cancelAtPeriodEnd } = subscription;
    const price = { id: this.#repriced.has(id) ? 'price_old' : stripePriceOf(subscription) };
    const items = { data: [{ id: `si_${id}`, price, current_period_end: periodEnd }] };
    // With the flag set, Stripe returns the end of the period in `cancel_at` too.
    return { id, status, created, cancel_at: endOf(subscription), cancel_at_period_end: cancelAtPeriodEnd, items };
  }

  #update(subscriptionId: string, given: URLSearchParams): object {
    const { customer, subscription } = this.#subscription(subscriptionId);
    if (subscription.status === 'canceled')
      throw new Refusal(400, undefined, 'A canceled subscription can only update its metadata.');
    const flag = given.get('cancel_at_period_end');
    const date = given.get('cancel_at');
    if (flag !== null && date !== null) throw new Refusal(400, undefined, 'Only one of cancel_at may be given.');
    const price = given.get('items[0][price]');
    if (price !== null && given.get('items[0][id]') !== `si_${subscriptionId}`)
      throw new Refusal(400, undefined, 'This would add a second item.');
    const isPaidNow = given.get('proration_behavior') === 'always_invoice';
    if (isPaidNow && customer.cardFails) throw new Refusal(402, 'card_declined', 'Your card was declined.');
    const plan = price === null ? undefined : stripePlanOf(price);
    const change = {
      ...(flag !== null && { cancelAtPeriodEnd: flag === 'true', cancelAt: null }),
      ...(date !== null && { cancelAt: date === '' ? null : Number(date) }),
      ...plan,
    };
    this.#apply(changeSubscription(customer, subscriptionId, change, this.#seconds() + customer.clockAhead));
    return this.#show(subscriptionId);
  }

  #configure(): object {
    if (!this.portalWorks) throw new Refusal(400, undefined, 'You may not create configurations.');
    const id = `bpc_${++this.#made}`;
    this.#configurations.add(id);
    return { id, object: 'billing_portal.configuration' };
  }

  /** The operator deletes the portal configurations in Stripe's dashboard. */
  forgetConfigurations(): void {
    this.#configurations.clear();
  }

  #openPortal(given: URLSearchParams): object {
    const { id } = this.customer(given.get('customer') ?? '');
    const configuration = given.get('configuration');
    if (configuration === null && !this.portalWorks) throw new Refusal(400, undefined, NO_DEFAULT_CONFIGURATION);
    if (configuration !== null && !this.#configurations.has(configuration))
      throw new Refusal(404, 'resource_missing', `No such configuration: '${configuration}'`, 'configuration');
    return { id: `bps_${id}`, object: 'billing_portal.session', url: `https://billing.stripe.test/${id}` };
  }

  #subscription(subscriptionId: string): { customer: SimulatedCustomer; subscription: SimulatedSubscription } {
    const customer = this.#ownerOf(subscriptionId);
    const subscription = customer.subscriptions.find(({ id }) => id === subscriptionId);
    if (subscription === undefined) throw new Refusal(404, 'resource_missing', 'No such subscription', 'id');
    return { customer, subscription };
  }

  #ownerOf(objectId: string): SimulatedCustomer {
    const owner = this.#owners.get(objectId);
    if (owner === undefined) throw new Refusal(404, 'resource_missing', `No such object: '${objectId}'`, 'id');
    return this.customer(owner);
  }

  #keep(customer: SimulatedCustomer): void {
    this.#customers.set(customer.id, customer);
    for (const { id } of [...customer.checkouts, ...customer.subscriptions]) this.#owners.set(id, customer.id);
  }

  #apply(customer: SimulatedCustomer): void {
    const before = this.customer(customer.id);
    this.#keep(customer);
    for (const { type, id } of eventsOf(before, customer)) {
      const created = this.#seconds();
      const data = { object: { id, object: type.split('.').slice(0, -1).join('.'), customer: customer.id } };
      this.events.push({
        id: `evt_${++this.#made}`,
        object: 'event',
        type,
        livemode: false,
        created,
        data,
      });
    }
  }

  #seconds(): number {
    return Math.floor(this.#now() / 1000);
  }
}

export interface SignedEvent {
  readonly body: string;
  readonly signature: string;
}

interface Answer {
  readonly status: number;
  readonly body: object;
}

export function signatureOf(body: string, secret: string, time: number): string {
  return createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
}

/** The model behind a real HTTP server on a free port. */
export async function startStripeServer(now: () => number) {
  const model = new StripeModel(now);
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const url = new URL(request.url ?? '/', 'http://stripe.test');
      const { method = 'GET', headers } = request;
      const body = Buffer.concat(pieces).toString('utf8');
      const parameters = method === 'GET' ? url.searchParams : new URLSearchParams(body);
      const key = headers['idempotency-key'];
      const answer = model.answer(method, url.pathname, parameters, typeof key === 'string' ? key : null);
      response
        .writeHead(answer.status, { 'content-type': 'application/json', 'stripe-should-retry': 'false' })
        .end(JSON.stringify(answer.body));
    });
  });
  const port = await listenLocally(server);
  return {
    model,
    /** For STRIPE_API_BASE. */
    url: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
