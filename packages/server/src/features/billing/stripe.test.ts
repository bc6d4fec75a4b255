import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { STRIPE_CONFIG, STRIPE_SETTINGS, signatureOf, startStripeServer } from '../../../test/stripe-server.ts';
import type { SignedEvent } from '../../../test/stripe-server.ts';
import { storedRows } from '../../../test/database-sum.ts';
import { createTestClock, startTestServer } from '../../../test/test-server.ts';
import type { TestPerson } from '../../../test/test-server.ts';

/** The whole server and the real library, against a Stripe on this machine. */
const clock = createTestClock();
let person: TestPerson;

const stripe = await startStripeServer(clock.now);
const settings = { ...STRIPE_SETTINGS, STRIPE_API_BASE: stripe.url, SIGNUPS_PER_HOUR: '1000' };
const server = await startTestServer({ settings, clock });
afterAll(async () => {
  await server.stop();
  await stripe.stop();
});
beforeEach(async () => {
  stripe.model.outage = undefined;
  stripe.model.portalWorks = true;
  person = await server.register();
});

const checkout = (tier = 'BASIC', interval = 'monthly') =>
  person.client.answerTo('/api/subscription/checkout', {
    method: 'POST',
    json: { tier, interval, returnUrl: '/subscription#plans' },
  });
const portal = () =>
  person.client.answerTo('/api/subscription/portal', { method: 'POST', json: { returnUrl: '/subscription' } });
const change = (tier: string, interval = 'monthly') =>
  person.client.answerTo('/api/subscription/change', { method: 'POST', json: { tier, interval } });
const user = () => person.client.call('getUser', {});
const send = ({ body, signature }: Partial<SignedEvent>) =>
  server.visitor().answerTo('/api/subscription/webhook', {
    method: 'POST',
    body: body ?? '',
    headers: { 'content-type': 'application/json; charset=utf-8', ...(signature && { 'stripe-signature': signature }) },
  });

async function sessionId(): Promise<string> {
  const { body } = await checkout();
  return /cs_test_\w+/.exec(JSON.stringify(body))?.[0] ?? '';
}

async function subscribe(): Promise<string> {
  stripe.model.payCheckout(await sessionId());
  return (await user()).stripeCustomerId ?? '';
}

describe('checkout', () => {
  test('the return page shows the new plan before any event', async () => {
    expect((await checkout()).body).toEqual({ url: expect.stringMatching(/^https:\/\/checkout\.stripe\.test\/cs_/) });
    expect((await user()).subscriptionTier).toBe('FREE');
    const customerId = (await user()).stripeCustomerId ?? '';
    const session = stripe.model.customer(customerId).checkouts.at(-1);
    expect(session?.successUrl).toBe(
      `${server.origin}/subscription?checkout=success&session_id={CHECKOUT_SESSION_ID}#plans`,
    );
    clock.advance(3000);
    stripe.model.payCheckout(session?.id ?? '');
    expect(await user()).toMatchObject({ subscriptionTier: 'BASIC', subscriptionStatus: 'active' });
  });

  test('the return page shows the new plan also after the clock was set back', async () => {
    const session = await sessionId();
    expect((await user()).subscriptionTier).toBe('FREE');
    clock.advance(-3_600_000);
    stripe.model.payCheckout(session);
    expect((await user()).subscriptionTier).toBe('BASIC');
    clock.advance(3_600_000);
  });

  test('an event alone grants the plan', async () => {
    stripe.model.payCheckout(await sessionId());
    const event = stripe.model.events.at(-1) ?? {};
    expect((await send(stripe.model.signed(event))).body).toEqual({ received: true });
    expect((await server.store.findUser(person.user.id))?.subscriptionTier).toBe('BASIC');
  });

  test('after the customer was deleted at Stripe, a new one buys a plan', async () => {
    const deleted = await subscribe();
    stripe.model.deleteCustomer(deleted);
    const customerId = await subscribe();
    expect(customerId).not.toBe(deleted);
    clock.advance(3000);
    expect(await user()).toMatchObject({ subscriptionTier: 'BASIC', stripeCustomerId: customerId });
    expect(stripe.model.running(customerId)).toHaveLength(1);
  });

  test('a second paid subscription is canceled', async () => {
    const customerId = await subscribe();
    const { subscriptions, checkouts } = stripe.model.customer(customerId);
    expect([subscriptions.length, checkouts.length]).toEqual([1, 1]);
    expect(await checkout('PREMIUM')).toMatchObject({ status: 409, body: { code: 'ALREADY_SUBSCRIBED' } });
    stripe.model.payCheckout(stripe.model.openSession(customerId, { tier: 'PREMIUM', interval: 'yearly' }));
    await send(stripe.model.signed(stripe.model.events.at(-1) ?? {}));
    expect(stripe.model.running(customerId).map(({ tier }) => tier)).toEqual(['BASIC']);
    expect((await user()).subscriptionTier).toBe('BASIC');
  });
});

describe('when Stripe fails', () => {
  test.each([
    ['checkout', 'Failed to create checkout session', () => checkout()],
    ['portal', 'Failed to create portal session', () => portal()],
    ['change', 'Failed to change subscription tier', () => change('PREMIUM')],
  ])('%s: %s; nothing changed, and trying again works', async (what, error, call) => {
    if (what !== 'checkout') await subscribe();
    const before = await user();
    stripe.model.outage = 500;
    expect(await call()).toMatchObject({ status: 502, body: { code: 'BILLING_FAILED', error, message: error } });
    stripe.model.outage = undefined;
    clock.advance(3000);
    expect({ ...(await user()), stripeCustomerId: before.stripeCustomerId }).toEqual(before);
    expect((await call()).status).toBe(200);
  });

  test('a declined card leaves the plan unchanged', async () => {
    const customerId = await subscribe();
    stripe.model.failPayments(customerId, true);
    expect(await change('PREMIUM')).toMatchObject({ status: 402, body: { code: 'PAYMENT_FAILED' } });
    expect((await user()).subscriptionTier).toBe('BASIC');
    expect(stripe.model.running(customerId)[0]?.tier).toBe('BASIC');
  });
});

describe('the plan and the endpoints stay', () => {
  const newEndpoints = async (count: number): Promise<void> => {
    for (let nth = 0; nth < count; nth++) await person.client.call('createEndpoint', { body: {} });
  };
  const endpoints = async () => (await person.client.call('listEndpoints', {})).length;

  test('at a price that is not configured any more', async () => {
    const customerId = await subscribe();
    await newEndpoints(2);
    const [running] = stripe.model.running(customerId);
    stripe.model.reprice(running?.id ?? '');
    expect(await change('FREE')).toMatchObject({ status: 200, body: { subscriptionTier: 'BASIC' } });
    expect((await user()).subscriptionEndDate).not.toBeNull();
    expect(await endpoints()).toBe(2);
    stripe.model.endNow(running?.id ?? '');
    await send(stripe.model.signed(stripe.model.events.at(-1) ?? {}));
    expect((await user()).subscriptionTier).toBe('FREE');
  });

  test("with a key of another account, which doesn't know the customer", async () => {
    const customerId = await subscribe();
    await newEndpoints(2);
    const before = await user();
    const show = stripe.model.hideCustomer(customerId);
    expect(await change('PREMIUM')).toMatchObject({ status: 502, body: { code: 'BILLING_FAILED' } });
    expect(await checkout('PREMIUM')).toMatchObject({ status: 502, body: { code: 'BILLING_FAILED' } });
    expect(await user()).toEqual(before);
    expect(await endpoints()).toBe(2);
    show();
    expect((await change('PREMIUM')).body).toMatchObject({ subscriptionTier: 'PREMIUM' });
  });
});

test("a customer without a subscription that Stripe doesn't know is replaced", async () => {
  await sessionId();
  const { stripeCustomerId } = await user();
  stripe.model.hideCustomer(stripeCustomerId ?? '');
  expect(await subscribe()).not.toBe(stripeCustomerId);
  clock.advance(3000);
  expect((await user()).subscriptionTier).toBe('BASIC');
});

describe('the portal', () => {
  test('uses its own configuration, created once and again when it was deleted', async () => {
    await subscribe();
    const made = () => stripe.model.calls.filter((call) => call.endsWith('/configurations')).length;
    const before = made();
    expect((await portal()).body).toEqual({ url: expect.stringMatching(/^https:\/\/billing\.stripe\.test\//) });
    await portal();
    expect(made() - before).toBeLessThanOrEqual(1);
    stripe.model.forgetConfigurations();
    const again = made();
    expect((await portal()).status).toBe(200);
    expect(made() - again).toBe(1);
  });

  test('without a configuration says so', async () => {
    await subscribe();
    stripe.model.forgetConfigurations();
    stripe.model.portalWorks = false;
    expect(await portal()).toMatchObject({ status: 503, body: { code: 'PORTAL_NOT_CONFIGURED' } });
  });

  test('a cancellation in it has another form, and is revoked all the same', async () => {
    const customerId = await subscribe();
    stripe.model.cancelInPortal(stripe.model.running(customerId)[0]?.id ?? '');
    await send(stripe.model.signed(stripe.model.events.at(-1) ?? {}));
    expect((await user()).subscriptionEndDate).toMatch(/^20/);
    expect((await change('BASIC')).body).toMatchObject({ subscriptionEndDate: null });
    expect(stripe.model.running(customerId)[0]).toMatchObject({ cancelAt: null, cancelAtPeriodEnd: false });
  });
});

test('the preview of an upgrade has the charge of Stripe', async () => {
  await subscribe();
  const preview = await person.client.call('previewPlanChange', { query: { tier: 'PREMIUM', interval: 'monthly' } });
  expect(preview).toEqual({
    deletes: [],
    at: null,
    losesFavorites: 0,
    expiresInMs: null,
    amount: { cents: 433, currency: 'usd' },
  });
});

test('deleting the account ends every subscription, and is rejected while that is not possible', async () => {
  const customerId = await subscribe();
  stripe.model.payCheckout(stripe.model.openSession(customerId, { tier: 'PREMIUM', interval: 'yearly' }));
  stripe.model.outage = 500;
  const remove = { method: 'DELETE', json: { password: person.password } };
  const error = 'Your account was not deleted, because the payment service could not be reached. Please try again.';
  expect(await person.client.answerTo('/api/user', remove)).toMatchObject({
    status: 502,
    body: { code: 'BILLING_FAILED', error, message: error },
  });
  stripe.model.outage = undefined;
  expect((await person.client.answerTo('/api/user', remove)).status).toBe(204);
  expect(stripe.model.running(customerId)).toEqual([]);
});

test('deleting the account closes its checkout, so that nobody pays for nothing', async () => {
  const id = await sessionId();
  const customerId = (await user()).stripeCustomerId ?? '';
  await person.client.call('deleteAccount', { body: { password: person.password } });
  expect(stripe.model.customer(customerId).checkouts).toMatchObject([{ id, status: 'expired' }]);
});

test('a checkout that could not be closed while Stripe failed is closed later', async () => {
  const id = await sessionId();
  const customerId = (await user()).stripeCustomerId ?? '';
  stripe.model.outage = 500;
  expect((await checkout('PREMIUM')).status).toBe(502);
  stripe.model.outage = undefined;
  await person.client.call('deleteAccount', { body: { password: person.password } });
  expect(stripe.model.customer(customerId).checkouts).toMatchObject([{ id, status: 'expired' }]);
});

describe('events', () => {
  const secret = STRIPE_CONFIG.webhookSecret;
  const seconds = (ahead = 0) => Math.floor(clock.now() / 1000) + ahead;
  /** The header of a signature, by default a valid one. */
  const sign = (body: string, { ahead = 0, key = secret, version = 'v1' } = {}): string =>
    `t=${seconds(ahead)},${version}=${signatureOf(body, key, seconds(ahead))}`;
  const eventFor = (customer: string, more: object = {}) => ({
    id: `evt_of_${customer}_${seconds()}`,
    object: 'event',
    type: 'customer.subscription.deleted',
    livemode: false,
    created: seconds(),
    data: { object: { id: 'sub_1', object: 'subscription', customer } },
    ...more,
  });

  /** A subscription that ended at Stripe without an event. Any accepted event would reveal it. */
  async function endedSilently(): Promise<string> {
    const customerId = await subscribe();
    stripe.model.endNow(stripe.model.running(customerId)[0]?.id ?? '');
    return customerId;
  }

  /** On a slow machine, the job that reads due accounts runs in these tests, and would change those of earlier ones. */
  async function readDueAccountsTomorrow(): Promise<void> {
    const now = clock.now();
    while ((await server.store.claimDueAccount(now, now + 86_400_000)) !== undefined);
  }

  async function expectUnchanged(act: () => Promise<void>): Promise<void> {
    await readDueAccountsTomorrow();
    const before = await storedRows(server.storage);
    await act();
    expect(await storedRows(server.storage)).toEqual(before);
  }

  test.each<[string, (body: string) => Partial<SignedEvent>]>([
    ['without a signature', (body) => ({ body })],
    ['with another secret', (body) => ({ body, signature: sign(body, { key: 'x' }) })],
    ['with a changed byte', (body) => ({ body: `${body} `, signature: sign(body) })],
    ['that is 301 s old', (body) => ({ body, signature: sign(body, { ahead: -302 }) })],
    ['from the future', (body) => ({ body, signature: sign(body, { ahead: 60 }) })],
    ['without a time', (body) => ({ body, signature: `t=NaN,v1=${signatureOf(body, secret, Number.NaN)}` })],
    ['with the old scheme alone', (body) => ({ body, signature: sign(body, { version: 'v0' }) })],
    ['without a body', () => ({ signature: sign('') })],
    [
      'with a second time before its own',
      (body) => ({ body, signature: `t=${seconds()},${sign(body, { ahead: -400 })}` }),
    ],
  ])('%s are refused and change nothing', async (_, forge) => {
    const body = JSON.stringify(eventFor(await endedSilently()));
    await expectUnchanged(async () => {
      expect(await send(forge(body))).toMatchObject({ status: 400, body: { code: 'INVALID_SIGNATURE' } });
    });
  });

  test('with two signatures, during a change of the secret, are accepted', async () => {
    const body = JSON.stringify(eventFor(await endedSilently()));
    const signature = sign(body).replace('v1=', `v1=${'0'.repeat(64)},v1=`);
    expect((await send({ body, signature })).status).toBe(200);
    expect((await server.store.findUser(person.user.id))?.subscriptionTier).toBe('FREE');
  });

  test.each([
    'customer.deleted',
    'customer.subscription.created',
    'customer.subscription.updated',
    'customer.subscription.deleted',
    'invoice.paid',
    'invoice.payment_failed',
    'checkout.session.completed',
    'checkout.session.expired',
  ])('%s causes a read of the subscription', async (type) => {
    const object = type.split('.').slice(0, -1).join('.');
    const customer = await endedSilently();
    const event = eventFor(customer, { type, data: { object: { id: customer, object, customer } } });
    expect((await send(stripe.model.signed(event))).status).toBe(200);
    expect((await server.store.findUser(person.user.id))?.subscriptionTier).toBe('FREE');
  });

  test.each<[string, (customer: string) => object]>([
    ['of a foreign customer', () => eventFor('cus_nobody')],
    ["of another account's", (customer) => eventFor(customer, { account: 'acct_2' })],
    ['of the other mode', (customer) => eventFor(customer, { livemode: true })],
    ['of an unknown type', (customer) => eventFor(customer, { type: 'treasury.tomorrow' })],
    ['of no customer', () => ({ ...eventFor(''), data: { object: { id: 'x', object: 'price' } } })],
    ['of an unknown shape', () => ({ hello: 'world' })],
    ['with a NUL in the id', (customer) => eventFor(customer, { id: 'evt_\0' })],
  ])('%s are acknowledged and change nothing', async (_, make) => {
    const customer = await endedSilently();
    await expectUnchanged(async () => {
      expect((await send(stripe.model.signed(make(customer)))).body).toEqual({ received: true });
    });
  });

  test('without a mode count, because another host than Stripe may not name it', async () => {
    const { livemode: _, ...event } = eventFor(await endedSilently());
    expect((await send(stripe.model.signed(event))).status).toBe(200);
    expect((await server.store.findUser(person.user.id))?.subscriptionTier).toBe('FREE');
  });

  test("are not acknowledged while Stripe can't be read, and accepted afterwards", async () => {
    const event = eventFor(await endedSilently());
    stripe.model.outage = 500;
    expect((await send(stripe.model.signed(event))).status).toBe(502);
    stripe.model.outage = undefined;
    expect((await send(stripe.model.signed(event))).status).toBe(200);
    expect((await server.store.findUser(person.user.id))?.subscriptionTier).toBe('FREE');
    const reads = stripe.model.calls.length;
    expect((await send(stripe.model.signed(event))).status).toBe(200);
    expect(stripe.model.calls.length).toBe(reads);
  });
});
