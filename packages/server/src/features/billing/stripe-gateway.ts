import type { Money } from '@creel/contract';
import { createHash } from 'node:crypto';
import { Stripe } from 'stripe';
import { z } from 'zod';
import type { StripeConfig } from '../../config.ts';
import type { Logger } from '../../log.ts';
import { GatewayError } from './gateway.ts';
import type { BillingGateway, CheckoutInput, GatewayEvent } from './gateway.ts';
import type { Remote } from '../../database/remote.ts';
import type { billingQueries } from './queries.ts';
import { TEST_CUSTOMER } from './test-gateway.ts';
import { ANSWERS, readAnswer, readStripeEvent, readSubscription, stateOf } from './stripe-formats.ts';
import { isChargedNow } from './rules.ts';
import { readBounded } from '../../limits/read-bounded.ts';
import type { PlanPrice, SubscriptionFields, SubscriptionState } from './rules.ts';

/** The API version of the installed types and of the schemas in `stripe-formats.ts`. */
const API_VERSION = '2026-10-28.endive';
const CALL_MS = 20_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const HOUR_MS = 3_600_000;
/** Stripe's default is a day, and its minimum half an hour. */
const CHECKOUT_SECONDS = 3600;

export interface StripeGatewayOptions {
  readonly config: StripeConfig;
  readonly store: Pick<Remote<typeof billingQueries>, 'findBillingSetting' | 'keepBillingSetting'>;
  readonly log: Logger;
  readonly now: () => number;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** Bills through Stripe. Its answers are checked with the schemas in `stripe-formats.ts`. */
export class StripeGateway implements BillingGateway {
  readonly recheckMs = HOUR_MS;
  readonly #options: StripeGatewayOptions;
  readonly #stripe: Stripe;

  constructor(options: StripeGatewayOptions) {
    this.#options = options;
    const { secretKey, apiBase } = options.config;
    this.#stripe = new Stripe(secretKey, {
      apiVersion: API_VERSION,
      timeout: CALL_MS,
      maxNetworkRetries: 1,
      telemetry: false,
      ...(apiBase === undefined ? {} : serverOf(apiBase)),
      // Its time limit includes the body. The one of the library's other client starts again with each piece.
      httpClient: objectsOnly(Stripe.createFetchHttpClient(bounded(options.fetch ?? fetch))),
    });
  }

  #priceOf({ tier, interval }: PlanPrice): string {
    return this.#options.config.prices[tier][interval];
  }

  async createCustomer(user: { readonly id: number; readonly email: string }, key: string): Promise<string> {
    const params = { email: user.email, metadata: { userId: String(user.id) } };
    return (await answerOf(this.#stripe.customers.create(params, { idempotencyKey: key }), ANSWERS.created)).id;
  }

  async createCheckout(input: CheckoutInput): Promise<{ id: string; url: string }> {
    const metadata = { userId: String(input.userId), tier: input.tier, interval: input.interval };
    return answerOf(
      this.#stripe.checkout.sessions.create(
        {
          mode: 'subscription',
          customer: input.customerId,
          client_reference_id: String(input.userId),
          line_items: [{ price: this.#priceOf(input), quantity: 1 }],
          success_url: input.successUrl,
          cancel_url: input.cancelUrl,
          expires_at: Math.floor(this.#options.now() / 1000) + CHECKOUT_SECONDS,
          metadata,
          // Stripe does not copy the session's metadata to the subscription.
          subscription_data: { metadata },
        },
        { idempotencyKey: input.id },
      ),
      ANSWERS.newCheckout,
    );
  }

  async expireCheckout(_customerId: string, id: string): Promise<void> {
    // Stripe rejects the call for a session that is paid or expired.
    await unlessRejected(this.#stripe.checkout.sessions.expire(id));
  }

  async isCheckoutOpen(_customerId: string, id: string): Promise<boolean> {
    const session = await unlessRejected(this.#stripe.checkout.sessions.retrieve(id));
    return session !== undefined && readAnswer(ANSWERS.checkout, session).status === 'open';
  }

  async listSubscriptions(customerId: string, stored: SubscriptionFields): Promise<readonly SubscriptionState[]> {
    try {
      const { data } = await answerOf(
        this.#stripe.subscriptions.list({ customer: customerId, status: 'all', limit: 100 }),
        ANSWERS.subscriptions,
      );
      return data.flatMap((each) => stateOf(readSubscription(each), (plan) => this.#priceOf(plan), stored) ?? []);
    } catch (error) {
      if (!(error instanceof GatewayError && error.reason === 'customer')) throw error;
      if (stored.stripeSubscriptionId === null || isUnpaid(customerId, error)) return [];
      // A deleted customer has no subscriptions. With the key of another account, Stripe does not know any customer.
      const { deleted } = await answerOf(this.#stripe.customers.retrieve(customerId), ANSWERS.customer);
      if (deleted) return [];
      throw error;
    }
  }

  // The library gives each call that changes something an idempotency key, because it repeats lost ones.
  async changePlan(_customerId: string, from: SubscriptionState, to: PlanPrice): Promise<void> {
    await withGatewayErrors(
      this.#stripe.subscriptions.update(from.id, {
        // Without the item's id Stripe would add a second price.
        items: [{ id: from.itemId, price: this.#priceOf(to) }],
        proration_behavior: isChargedNow(from, to) ? 'always_invoice' : 'create_prorations',
        // A declined card leaves the subscription unchanged.
        payment_behavior: 'error_if_incomplete',
        ...withoutCancellation(from),
      }),
    );
  }

  async cancelAtPeriodEnd(_customerId: string, id: string): Promise<void> {
    await withGatewayErrors(this.#stripe.subscriptions.update(id, { cancel_at_period_end: true }));
  }

  async renew(_customerId: string, subscription: SubscriptionState): Promise<void> {
    await withGatewayErrors(this.#stripe.subscriptions.update(subscription.id, withoutCancellation(subscription)));
  }

  async cancelNow(_customerId: string, id: string): Promise<void> {
    // Stripe rejects the call for a subscription that has ended.
    await unlessRejected(this.#stripe.subscriptions.cancel(id, { prorate: true, invoice_now: true }));
  }

  async previewChange(customerId: string, from: SubscriptionState, to: PlanPrice): Promise<Money | null> {
    const { amount_due: cents, currency } = await answerOf(
      this.#stripe.invoices.createPreview({
        customer: customerId,
        subscription: from.id,
        subscription_details: {
          items: [{ id: from.itemId, price: this.#priceOf(to) }],
          proration_behavior: 'always_invoice',
        },
      }),
      ANSWERS.invoice,
    );
    return { cents, currency };
  }

  async openPortal(customerId: string, returnUrl: string): Promise<string> {
    const configuration = await this.#portalConfiguration();
    const open = async (id: string | undefined): Promise<string> => {
      const params = {
        customer: customerId,
        return_url: returnUrl,
        ...(id === undefined ? {} : { configuration: id }),
      };
      return (await answerOf(this.#stripe.billingPortal.sessions.create(params), ANSWERS.portal)).url;
    };
    try {
      return await open(configuration);
    } catch (error) {
      // The stored configuration was deleted at Stripe.
      if (configuration === undefined || !isMissing(error, 'configuration')) throw error;
      return open(await this.#portalConfiguration(configuration));
    }
  }

  /** Created once per Stripe account and stored, so that the portal does not depend on the account's default. */
  async #portalConfiguration(replaces?: string): Promise<string | undefined> {
    const { store, config, log } = this.#options;
    const account = createHash('sha256').update(config.secretKey).digest('hex').slice(0, 16);
    const name = `portal-configuration ${account}`;
    const stored = replaces === undefined ? await store.findBillingSetting(name) : undefined;
    if (stored !== undefined) return stored;
    try {
      const made = await answerOf(
        this.#stripe.billingPortal.configurations.create({
          features: {
            customer_update: { enabled: false },
            invoice_history: { enabled: true },
            payment_method_update: { enabled: true },
            subscription_cancel: { enabled: true, mode: 'at_period_end' },
          },
        }),
        ANSWERS.created,
      );
      return await store.keepBillingSetting(name, made.id, replaces);
    } catch (error) {
      if (rejectionOf(error) === undefined) throw error;
      log.error({ err: error }, 'Stripe refused a portal configuration; its default is used');
      return undefined;
    }
  }

  readEvent(body: Buffer, signature: string | undefined): GatewayEvent | 'foreign' | undefined {
    const { config, now } = this.#options;
    return readStripeEvent(this.#stripe.webhooks, { body, signature, now: now() }, config);
  }
}

/** Stripe accepts only one of the two per call. */
function withoutCancellation({ canceledBy }: SubscriptionState): Stripe.SubscriptionUpdateParams {
  if (canceledBy === null) return {};
  return canceledBy === 'flag' ? { cancel_at_period_end: false } : { cancel_at: '' };
}

function serverOf(apiBase: string): { host: string; port: string; protocol: 'http' | 'https' } {
  const url = new URL(apiBase);
  const protocol = url.protocol === 'http:' ? 'http' : 'https';
  return { host: url.hostname, port: url.port === '' ? (protocol === 'http' ? '80' : '443') : url.port, protocol };
}

/** An unknown customer of the test gateway, or of Stripe's test mode while the key is a live one. Neither pays. */
function isUnpaid(customerId: string, { message }: GatewayError): boolean {
  return customerId.startsWith(TEST_CUSTOMER) || /similar object exists in test mode/i.test(message);
}

const PORTAL_NOT_SET_UP = /default configuration has not been created|save your customer portal settings/i;

/** Awaits a library call and converts its errors to GatewayError. */
async function withGatewayErrors<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw new GatewayError(reasonOf(error), error);
  }
}

/** Awaits a library call and reads the used fields of its answer. @throws GatewayError, including for another format */
async function answerOf<T>(call: Promise<unknown>, schema: z.ZodType<T>): Promise<T> {
  return readAnswer(schema, await withGatewayErrors(call));
}

/** A `fetch` that limits the size of responses, and follows no redirects. */
function bounded(send: typeof fetch): typeof fetch {
  return async (url, init) => readBounded(await send(url, { ...init, redirect: 'manual' }), MAX_ANSWER_BYTES);
}

/** Rejects JSON that is not an object. The library would never settle the call, and its own error ends the process. */
function objectsOnly(client: Stripe.HttpClient): Stripe.HttpClient {
  const makeRequest = client.makeRequest.bind(client);
  client.makeRequest = async (...request) => {
    const response = await makeRequest(...request);
    const toJSON = response.toJSON.bind(response);
    response.toJSON = async () => z.looseObject({}).parse(await toJSON());
    return response;
  };
  return client;
}

/** The result of a call; `undefined` if Stripe understood and rejected it. */
async function unlessRejected<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await withGatewayErrors(call);
  } catch (error) {
    if (rejectionOf(error) === undefined) throw error;
    return undefined;
  }
}

function reasonOf(error: unknown): GatewayError['reason'] {
  if (!(error instanceof Stripe.errors.StripeError)) return 'unavailable';
  if (error.statusCode === 402) return 'payment';
  if (error.code === 'resource_missing' && (error.param === 'customer' || /No such customer/i.test(error.message)))
    return 'customer';
  if ((error.statusCode ?? 0) >= 500) return 'failed';
  // Stripe has no error code for this.
  return PORTAL_NOT_SET_UP.test(error.message) ? 'portal' : 'unavailable';
}

/** Stripe's error, if it understood the call and rejected it. */
function rejectionOf(error: unknown): Stripe.errors.StripeInvalidRequestError | undefined {
  const cause = error instanceof GatewayError ? error.cause : undefined;
  return cause instanceof Stripe.errors.StripeInvalidRequestError ? cause : undefined;
}

function isMissing(error: unknown, param: string): boolean {
  const rejection = rejectionOf(error);
  return rejection !== undefined && (rejection.param === param || /No such/i.test(rejection.message));
}
