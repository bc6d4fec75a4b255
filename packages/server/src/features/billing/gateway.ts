import type { Money } from '@creel/contract';
import { messageOf } from '../../error-code.ts';
import type { PlanPrice, SubscriptionFields, SubscriptionState } from './rules.ts';

/**
 * Why a gateway call failed. `payment`: the card was declined. `customer`: unknown customer. `portal`: the portal is
 * not configured. `failed`: an error of the gateway, which it repeats for the same idempotency key. `unavailable`: no
 * usable response, so the effect is unknown.
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly reason: 'payment' | 'customer' | 'portal' | 'failed' | 'unavailable';

  constructor(reason: GatewayError['reason'], cause: unknown) {
    super(messageOf(cause), { cause });
    this.reason = reason;
  }
}

/** An event whose signature was checked. `customerId` is null for events that belong to no customer. */
export interface GatewayEvent {
  readonly id: string;
  readonly type: string;
  readonly customerId: string | null;
}

export interface CheckoutInput extends PlanPrice {
  /** Idempotency key, and the id of our own record of this checkout. */
  readonly id: string;
  readonly userId: number;
  readonly email: string;
  readonly customerId: string;
  readonly successUrl: string;
  readonly cancelUrl: string;
}

/** The payment provider. Methods may throw `GatewayError`. Repeating a creation with its key has no further effect. */
export interface BillingGateway {
  /** Milliseconds after which a subscription is read again without an event. */
  readonly recheckMs: number;
  createCustomer(user: { readonly id: number; readonly email: string }, key: string): Promise<string>;
  createCheckout(input: CheckoutInput): Promise<{ readonly id: string; readonly url: string }>;
  /** Closes an open checkout; a paid or expired one stays unchanged. */
  expireCheckout(customerId: string, id: string): Promise<void>;
  isCheckoutOpen(customerId: string, id: string): Promise<boolean>;
  /**
   * A customer's subscriptions to our plans, including ended ones. `stored`: the fields of the last read. Without a
   * subscription in them, an unknown customer has none.
   */
  listSubscriptions(customerId: string, stored: SubscriptionFields): Promise<readonly SubscriptionState[]>;
  /** Changes plan or interval, and revokes a cancellation. The old plan stays when the payment fails. */
  changePlan(customerId: string, from: SubscriptionState, to: PlanPrice): Promise<void>;
  cancelAtPeriodEnd(customerId: string, id: string): Promise<void>;
  /** Revokes a cancellation. */
  renew(customerId: string, subscription: SubscriptionState): Promise<void>;
  cancelNow(customerId: string, id: string): Promise<void>;
  /** The immediate charge of a plan change; `null` if the gateway does not know it. */
  previewChange(customerId: string, from: SubscriptionState, to: PlanPrice): Promise<Money | null>;
  /** URL of the billing portal, created for each visit. */
  openPortal(customerId: string, returnUrl: string): Promise<string>;
  /** Verifies an event; `foreign` for a signed one of another installation, `undefined` for a forged one. */
  readEvent(body: Buffer, signature: string | undefined): GatewayEvent | 'foreign' | undefined;
}
