import type { Money } from '@creel/contract';
import type { GatewaySubscription, PlanPrice, SubscriptionState } from './rules.ts';

/**
 * Why a gateway did not do what it was asked. `payment`: the card was declined. `customer`: it does not know the customer.
 * `portal`: the operator has not set the portal up. `unavailable`: no usable answer, so the effect is unknown.
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly reason: 'payment' | 'customer' | 'portal' | 'unavailable';

  constructor(reason: GatewayError['reason'], cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
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

/**
 * The payment provider. Every method may throw `GatewayError`; one that changes something takes an idempotency key, and repeating it
 * with the same key has no second effect.
 */
export interface BillingGateway {
  readonly kind: 'stripe' | 'test';
  /** Milliseconds after which a subscription is read again without an event. */
  readonly recheckMs: number;
  planOf(priceId: string): PlanPrice | undefined;
  createCustomer(user: { readonly id: number; readonly email: string }, key: string): Promise<string>;
  createCheckout(input: CheckoutInput): Promise<{ readonly id: string; readonly url: string }>;
  /** Closes an open checkout; one that is paid or expired stays as it is. */
  expireCheckout(customerId: string, id: string): Promise<void>;
  isCheckoutOpen(customerId: string, id: string): Promise<boolean>;
  /** All subscriptions of a customer, ended ones included. */
  listSubscriptions(customerId: string): Promise<readonly GatewaySubscription[]>;
  /** Changes plan or interval, and takes back a cancellation. The old plan stays when the payment fails. */
  changePlan(customerId: string, from: SubscriptionState, to: PlanPrice, key: string): Promise<void>;
  cancelAtPeriodEnd(customerId: string, id: string, key: string): Promise<void>;
  /** Takes back a cancellation. */
  renew(customerId: string, subscription: SubscriptionState, key: string): Promise<void>;
  cancelNow(customerId: string, id: string, key: string): Promise<void>;
  /** What a change of plan charges at once; `null` where the gateway can't say. */
  previewChange(customerId: string, from: SubscriptionState, to: PlanPrice): Promise<Money | null>;
  /** Address of the billing portal, made anew for each visit. */
  openPortal(customerId: string, returnUrl: string): Promise<string>;
  /** Checks and reads an event; `foreign` for one that is signed but not meant for this installation, `undefined` for a forged one. */
  readEvent(body: Buffer, signature: string | undefined): GatewayEvent | 'foreign' | undefined;
}
