import { PLANS } from '@creel/contract';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { UserRecord } from '../../database/records.ts';
import { openMemoryStore } from '../../../test/memory-store.ts';
import { DAY, anyPlan, notifiedUser, unique } from '../../../test/store-world.ts';
import { stripeBilling } from '../../../test/stripe-billing.ts';
import { StripeModel } from '../../../test/stripe-server.ts';
import { standingClock } from '../../../test/test-server.ts';
import type { Billing } from './service.ts';

/**
 * Kills a process between any two steps. A step is a call to the database or to Stripe. The killed process never
 * returns from its last step, and another process starts on the same database.
 */
const HOUR = 3_600_000;

let store: Awaited<ReturnType<typeof openMemoryStore>>;
let clock: ReturnType<typeof standingClock>;
let model: StripeModel;
beforeEach(async () => {
  clock = standingClock();
  store = await openMemoryStore(clock.now);
  model = new StripeModel(clock.now);
});
afterEach(async () => {
  vi.useRealTimers();
  await store.close();
});

/** Dies at the step with this number; otherwise counts. */
class Fate {
  steps = 0;
  readonly #diesAt: number;

  constructor(diesAt = Infinity) {
    this.#diesAt = diesAt;
  }

  readonly step = async (): Promise<void> => {
    this.steps += 1;
    if (this.steps >= this.#diesAt) await new Promise(() => undefined);
  };
}

function processWith(fate: Fate): Billing {
  const fatal = new Proxy(store, {
    get(target, name, receiver) {
      const method: unknown = Reflect.get(target, name, receiver);
      if (typeof method !== 'function') return method;
      return async (...args: unknown[]) => {
        await fate.step();
        const result: unknown = await method(...args);
        await fate.step();
        return result;
      };
    },
  });
  const answer: typeof fetch = async (input, init) => {
    await fate.step();
    const response = await model.fetch(input, init);
    await fate.step();
    return response;
  };
  return stripeBilling(fatal, answer, clock.now);
}

async function subscriber(): Promise<UserRecord> {
  const user = await notifiedUser(store, { emailNotifySubscription: true });
  const billing = processWith(new Fate());
  const url = await billing.startCheckout(user, { tier: 'PREMIUM', interval: 'monthly', returnUrl: '/' });
  model.payCheckout(url.slice(url.lastIndexOf('/') + 1));
  const paid = await billing.sync.refresh(user.id);
  if (paid === undefined) throw new Error('The user is gone.');
  for (let nth = 0; nth < 8; nth++) {
    const endpoint = { uid: unique('uid'), userId: user.id, name: null, source: null, autosave: false };
    await store.createEndpoint({ ...endpoint, createdAt: clock.now() + nth }, anyPlan({ expiryMs: 1000 * DAY }));
  }
  return paid;
}

interface Change {
  /** Prepares the world before the process runs. */
  readonly before?: (user: UserRecord) => void;
  readonly run: (billing: Billing, user: UserRecord) => Promise<unknown>;
  readonly tier: 'FREE' | 'BASIC' | 'PREMIUM';
}

const runningId = (user: UserRecord): string => model.running(user.stripeCustomerId ?? '')[0]?.id ?? '';
async function deliver(billing: Billing): Promise<void> {
  const { body, signature } = model.signed(model.events.at(-1) ?? {});
  await billing.sync.receive(Buffer.from(body), signature);
}

const CHANGES: readonly (readonly [string, Change])[] = [
  [
    'a downgrade',
    { run: (billing, user) => billing.changePlan(user, { tier: 'BASIC', interval: 'monthly' }), tier: 'BASIC' },
  ],
  [
    'a cancellation',
    { run: (billing, user) => billing.changePlan(user, { tier: 'FREE', interval: 'monthly' }), tier: 'PREMIUM' },
  ],
  [
    'a change of interval',
    { run: (billing, user) => billing.changePlan(user, { tier: 'PREMIUM', interval: 'yearly' }), tier: 'PREMIUM' },
  ],
  ['the event of an end', { before: (user) => model.endNow(runningId(user)), run: deliver, tier: 'FREE' }],
];

/** The fields and the endpoints: a change has happened to all of them or to none. */
async function expectWhole(user: UserRecord, tier: 'FREE' | 'BASIC' | 'PREMIUM'): Promise<void> {
  const now = await store.findUser(user.id);
  const endpoints = await store.listEndpoints(user.id);
  expect([user.subscriptionTier, tier]).toContain(now?.subscriptionTier);
  const plan = PLANS[now?.subscriptionTier ?? 'FREE'];
  const isLowered = plan.tier !== 'PREMIUM';
  expect(endpoints).toHaveLength(isLowered ? plan.endpoints : 8);
  // As created, they expire after 1000 days.
  const expiresSoon = (expiresAt: number | null): boolean => expiresAt !== null && expiresAt < clock.now() + 100 * DAY;
  expect(endpoints.every(({ expiresAt }) => expiresSoon(expiresAt) === isLowered)).toBe(true);
}

test.each(CHANGES)('%s: completely or not at all, and as at Stripe after the next check', async (_, change) => {
  const counted = new Fate();
  const someone = await subscriber();
  change.before?.(someone);
  await change.run(processWith(counted), someone);
  expect(counted.steps).toBeGreaterThan(10);
  for (let step = 1; step <= counted.steps; step++) {
    const user = await subscriber();
    change.before?.(user);
    const dying = new Promise<void>((resolve) => {
      const fate = new Fate(step);
      // The library of Stripe gives up its last call much later.
      change.run(processWith(fate), user).catch(() => undefined);
      const look = (): void => (fate.steps >= step ? resolve() : void setImmediate(look));
      look();
    });
    await dying;
    await expectWhole(user, change.tier);
    clock.advance(2 * HOUR);
    const survivor = processWith(new Fate());
    await survivor.sync.reconcile(new AbortController().signal);
    await expectWhole(user, change.tier);
    const [running] = model.running(user.stripeCustomerId ?? '');
    const endsAt = running?.cancelAtPeriodEnd === true ? running.periodEnd * 1000 : null;
    expect(await store.findUser(user.id)).toMatchObject({
      subscriptionTier: running?.tier ?? 'FREE',
      billingInterval: running?.interval ?? null,
      subscriptionEndAt: endsAt,
    });
    await store.deleteUser(user.id);
  }
  await store.deleteUser(someone.id);
});

/** Locks the account for another process, for as long as every process does. A much later end counts as over. */
const lockOf = (user: UserRecord) =>
  store.lockBillingAccount({ userId: user.id, owner: 'another', claimMs: 10_000 }, 'key');

test('an account is free 10 s after its process was killed', async () => {
  const user = await subscriber();
  const { promise: holds, resolve: hold } = Promise.withResolvers<void>();
  // The killed process renews nothing.
  vi.useFakeTimers({ toFake: ['setInterval'] });
  void processWith(new Fate()).sync.locks.run(user.id, () => {
    hold();
    return new Promise(() => undefined);
  });
  await holds;
  clock.advance(9000);
  expect(await lockOf(user)).toBe('busy');
  clock.advance(1000);
  expect(await lockOf(user)).toBe('locked');
});

test('a process keeps an account for as long as it works', async () => {
  const user = await subscriber();
  const { promise: holds, resolve: hold } = Promise.withResolvers<void>();
  const { promise: work, resolve: finish } = Promise.withResolvers<void>();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const working = processWith(new Fate()).sync.locks.run(user.id, () => {
    hold();
    return work;
  });
  await holds;
  for (let second = 3; second <= 60; second += 3) {
    clock.advance(3000);
    await vi.advanceTimersByTimeAsync(3000);
    expect(await lockOf(user)).toBe('busy');
  }
  finish();
  await working;
  expect(vi.getTimerCount()).toBe(0);
  expect(await lockOf(user)).toBe('locked');
});

test('a process whose clock is an hour ahead waits until the account is free', async () => {
  const user = await subscriber();
  const { promise: holds, resolve: hold } = Promise.withResolvers<void>();
  const { promise: work, resolve: finish } = Promise.withResolvers<void>();
  const working = processWith(new Fate()).sync.locks.run(user.id, () => {
    hold();
    return work;
  });
  await holds;
  const claims: string[] = [];
  const lockBillingAccount: typeof store.lockBillingAccount = async (...args) => {
    const outcome = await store.lockBillingAccount(...args);
    claims.push(outcome);
    return outcome;
  };
  const ahead = stripeBilling({ ...store, lockBillingAccount }, model.fetch, () => clock.now() + HOUR);
  const waiting = ahead.sync.locks.run(user.id, async () => undefined);
  await expect.poll(() => claims[0]).toBe('busy');
  finish();
  await Promise.all([working, waiting]);
  expect(claims.at(-1)).toBe('locked');
});

test('an account that is deleted during its first checkout leaves none that can be paid', async () => {
  const user = await notifiedUser(store, {});
  const { promise: created, resolve: create } = Promise.withResolvers<void>();
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const late: typeof fetch = async (input, init) => {
    const response = await model.fetch(input, init);
    if (!new Request(input).url.endsWith('/checkout/sessions')) return response;
    create();
    await answered;
    return response;
  };
  const billing = stripeBilling(store, late, clock.now);
  const checkout = billing.startCheckout(user, { tier: 'BASIC', interval: 'monthly', returnUrl: '/' });
  await created;
  const ending = billing.endFor(user);
  answer();
  await Promise.all([checkout, ending]);
  const customerId = (await store.findUser(user.id))?.stripeCustomerId ?? '';
  expect(model.customer(customerId).checkouts.map(({ status }) => status)).toEqual(['expired']);
});
