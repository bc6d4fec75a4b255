import { afterAll, expect, test } from 'vitest';
import type { UserRecord } from '../../database/records.ts';
import { makeDice } from '../../../../../fixtures/dice.ts';
import type { Dice } from '../../../../../fixtures/dice.ts';
import { openMemoryStore } from '../../../test/memory-store.ts';
import { notifiedUser } from '../../../test/store-world.ts';
import { stripeBilling } from '../../../test/stripe-billing.ts';
import { StripeModel } from '../../../test/stripe-server.ts';
import type { WireEvent } from '../../../test/stripe-server.ts';
import { createTestClock } from '../../../test/test-server.ts';
import type { PlanPrice } from './rules.ts';

/**
 * Whole life cycles of subscriptions, through the real library against a stateful Stripe. Events arrive in any order,
 * repeatedly, late, and sometimes never. In the end the stored state equals Stripe's.
 */
const ROUNDS = Number(process.env['BILLING_ROUNDS'] ?? 15);
const MINUTE = 60_000;

const clock = createTestClock();
const model = new StripeModel(clock.now);
/** Delays responses that Stripe has already produced. */
let afterAnswer = async (): Promise<void> => undefined;

const store = await openMemoryStore();
const answer: typeof fetch = async (input, init) => {
  const response = await model.fetch(input, init);
  await afterAnswer();
  return response;
};
const billing = stripeBilling(store, answer, clock.now);
afterAll(() => store.close());

/** A user with a life cycle. */
interface Life {
  readonly user: UserRecord;
  /** Starts a checkout and returns its id. */
  readonly checkout: (plan: PlanPrice) => Promise<string>;
  readonly pay: (plan: PlanPrice) => Promise<void>;
  readonly change: (tier: 'FREE' | 'BASIC' | 'PREMIUM', interval?: 'monthly' | 'yearly') => Promise<void>;
  readonly customer: () => Promise<string>;
  /** The running subscription. */
  readonly subscription: () => Promise<string>;
  readonly advance: () => Promise<void>;
}

type Step = (life: Life) => Promise<void>;
const BASIC: PlanPrice = { tier: 'BASIC', interval: 'monthly' };
const PREMIUM: PlanPrice = { tier: 'PREMIUM', interval: 'yearly' };

const fail: Step = async ({ customer, advance }) => {
  model.failPayments(await customer(), true);
  await advance();
};
const recover: Step = async ({ subscription }) => model.recoverPayment(await subscription());
const advance: Step = (life) => life.advance();

const LIVES: readonly (readonly [name: string, steps: readonly Step[]])[] = [
  ['pays, renews, fails, recovers, renews', [(life) => life.pay(BASIC), advance, fail, recover, advance]],
  [
    'upgrades, downgrades, cancels, ends',
    [
      (life) => life.pay(BASIC),
      (life) => life.change('PREMIUM'),
      (life) => life.change('BASIC'),
      (life) => life.change('FREE'),
      advance,
    ],
  ],
  [
    'cancels in the portal, renews, cancels again and ends',
    [
      (life) => life.pay(PREMIUM),
      async ({ subscription }) => model.cancelInPortal(await subscription()),
      (life) => life.change('PREMIUM', 'yearly'),
      advance,
      async ({ subscription }) => model.cancelInPortal(await subscription()),
      advance,
    ],
  ],
  ['fails until it ends, and comes back', [(life) => life.pay(BASIC), fail, advance, (life) => life.pay(PREMIUM)]],
  [
    'pays in two tabs',
    [
      async (life) => {
        const session = await life.checkout(BASIC);
        // Opens the second tab's session directly at Stripe: our own second checkout would have closed the first one.
        const second = model.openSession(await life.customer(), PREMIUM);
        for (const id of [session, second]) model.payCheckout(id);
      },
      advance,
      (life) => life.change('PREMIUM', 'yearly'),
    ],
  ],
  [
    'changes the interval, is ended by the operator, and starts again',
    [
      (life) => life.pay(BASIC),
      (life) => life.change('BASIC', 'yearly'),
      async ({ subscription }) => model.endNow(await subscription()),
      (life) => life.pay(BASIC),
      (life) => life.change('FREE'),
    ],
  ],
];

async function beginLife(): Promise<Life> {
  const user = await notifiedUser(store, { emailNotifySubscription: true });
  const now = async (): Promise<UserRecord> => (await store.findUser(user.id)) ?? user;
  const customer = async (): Promise<string> => (await now()).stripeCustomerId ?? '';
  const checkout = async (plan: PlanPrice): Promise<string> => {
    const url = await billing.startCheckout(await now(), { ...plan, returnUrl: '/subscription' });
    return url.slice(url.lastIndexOf('/') + 1);
  };
  return {
    user,
    customer,
    checkout,
    pay: async (plan) => model.payCheckout(await checkout(plan)),
    change: async (tier, interval = 'monthly') => void (await billing.changePlan(await now(), { tier, interval })),
    subscription: async () => model.running(await customer())[0]?.id ?? '',
    advance: async () => model.advance(await customer()),
  };
}

async function deliver(event: WireEvent): Promise<void> {
  const { body, signature } = model.signed(event);
  await billing.sync.receive(Buffer.from(body), signature);
}

/** Up to eight in parallel, each one to three times, in any order. */
async function deliverSome(events: readonly WireEvent[], dice: Dice): Promise<void> {
  const copies = events.flatMap((event) => Array.from({ length: 1 + dice.below(3) }, () => event));
  const shuffled = copies.map((event) => [dice.roll(), event] as const).toSorted((a, b) => a[0] - b[0]);
  for (let from = 0; from < shuffled.length; from += 8)
    await Promise.all(shuffled.slice(from, from + 8).map(([, event]) => deliver(event)));
}

/** The expected fields of a user's row, derived from Stripe's state alone. */
async function expectAsStripe({ user, customer }: Life): Promise<void> {
  const row = await store.findUser(user.id);
  const [running, ...others] = model.running(await customer());
  expect(others).toEqual([]);
  const canceledAt = running?.cancelAtPeriodEnd ? running.periodEnd : (running?.cancelAt ?? null);
  expect(row).toMatchObject({
    subscriptionTier: running?.tier ?? 'FREE',
    subscriptionStatus: running?.status ?? 'inactive',
    billingInterval: running?.interval ?? null,
    stripeSubscriptionId: running?.id ?? null,
    subscriptionEndAt: canceledAt === null ? null : canceledAt * 1000,
  });
}

async function expectLife(steps: readonly Step[], dice: Dice): Promise<void> {
  const life = await beginLife();
  const held: WireEvent[] = [];
  // Not awaited: events are handled while the life cycle continues.
  const deliveries: Promise<void>[] = [];
  for (const step of steps) {
    const from = model.events.length;
    await step(life);
    held.push(...model.events.slice(from));
    const now = held.filter(() => dice.below(2) === 0);
    for (const event of now) held.splice(held.indexOf(event), 1);
    deliveries.push(deliverSome(now, dice));
  }
  const isDropped = (): boolean => dice.below(5) === 0;
  const last = held.filter(() => !isDropped());
  await Promise.all([...deliveries, deliverSome(last, dice)]);
  if (last.length < held.length) {
    clock.advance(61 * MINUTE);
    await billing.sync.reconcile(new AbortController().signal);
  }
  await expectAsStripe(life);
  await store.deleteUser(life.user.id);
}

test.each(LIVES)(`%s: ${ROUNDS} times`, { timeout: 120_000 }, async (name, steps) => {
  const dice = makeDice(name.length);
  for (let round = 0; round < ROUNDS; round++) await expectLife(steps, dice);
});

test('an event that arrives while the account is being read causes another read', async () => {
  const life = await beginLife();
  await life.pay(BASIC);
  await billing.sync.refresh(life.user.id);
  const gate = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  afterAnswer = () => {
    answered.resolve();
    return gate.promise;
  };
  const reading = billing.sync.refresh(life.user.id);
  await answered.promise;
  model.endNow(await life.subscription());
  const event = model.events.at(-1);
  const delivering = event === undefined ? undefined : deliver(event);
  afterAnswer = async () => undefined;
  // Gives a wrongly shared read time to happen.
  await new Promise((resolve) => setImmediate(resolve));
  gate.resolve();
  await Promise.all([reading, delivering]);
  await expectAsStripe(life);
});

test('a subscription without a checkout is found within a day, without its events', async () => {
  const life = await beginLife();
  await life.pay(BASIC);
  await billing.sync.refresh(life.user.id);
  model.endNow(await life.subscription());
  await billing.sync.refresh(life.user.id);
  // The operator makes a new one in Stripe's dashboard.
  model.payCheckout(model.openSession(await life.customer(), PREMIUM));
  clock.advance(24 * 60 * MINUTE);
  await billing.sync.reconcile(new AbortController().signal);
  await expectAsStripe(life);
});
