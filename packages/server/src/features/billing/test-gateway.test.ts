import { OPERATIONS } from '@creel/contract';
import type { BillingInterval, Tier } from '@creel/contract';
import { afterAll, describe, expect, test } from 'vitest';
import { plainCall } from '../../../test/plain-call.ts';
import { startTestServer } from '../../../test/test-server.ts';
import type { TestPerson } from '../../../test/test-server.ts';

const server = await startTestServer({ settings: { BILLING: 'test', SIGNUPS_PER_HOUR: '1000' } });
afterAll(() => server.stop());

const HOUR = 3_600_000;

async function startCheckout({ client }: TestPerson, tier: Tier, interval: BillingInterval): Promise<string> {
  const { url } = await client.call('createCheckout', { body: { tier, interval, returnUrl: '/subscription' } });
  expect(url).toMatch(new RegExp(`^${server.origin}/billing/test/checkout/cs_test_`));
  return url.slice(url.lastIndexOf('/') + 1);
}

async function pay(person: TestPerson, tier: Tier, interval: BillingInterval = 'monthly'): Promise<string> {
  const id = await startCheckout(person, tier, interval);
  const { returnUrl } = await person.client.call('decideTestCheckout', { params: { id }, body: { action: 'pay' } });
  return returnUrl;
}

/** A new subscriber. */
async function subscriber(tier: Tier, interval: BillingInterval = 'monthly'): Promise<TestPerson> {
  const person = await server.register();
  await pay(person, tier, interval);
  return person;
}

const change = ({ client }: TestPerson, tier: Tier, interval: BillingInterval = 'monthly') =>
  client.answerTo('/api/subscription/change', { method: 'POST', json: { tier, interval } });
const act = ({ client }: TestPerson, action: 'advance' | 'fail-payment' | 'recover-payment' | 'end-now' | 'cancel') =>
  client.call('actOnTestSubscription', { body: { action } });
const problem = (status: number, code: string, error: string) => ({ status, body: { code, error, message: error } });

async function createEndpoints({ client }: TestPerson, count: number): Promise<string[]> {
  const uids: string[] = [];
  for (let nth = 0; nth < count; nth++) {
    uids.push((await client.call('createEndpoint', { body: { name: `Endpoint ${nth}` } })).uid);
    server.clock.advance(1000);
  }
  return uids;
}

describe('checkout', () => {
  test('shows the purchase; paying grants the plan at once', async () => {
    const person = await server.register();
    const id = await startCheckout(person, 'PREMIUM', 'yearly');
    expect(await person.client.call('getTestCheckout', { params: { id } })).toEqual({
      id,
      status: 'open',
      tier: 'PREMIUM',
      interval: 'yearly',
      price: { cents: 10_000, currency: 'usd' },
      email: person.user.email,
      returnUrl: `${server.origin}/subscription?checkout=canceled`,
    });
    const { returnUrl } = await person.client.call('decideTestCheckout', { params: { id }, body: { action: 'pay' } });
    expect(returnUrl).toBe(`${server.origin}/subscription?checkout=success&session_id=${id}`);
    const user = await person.client.call('getUser', {});
    expect(user).toMatchObject({
      subscriptionTier: 'PREMIUM',
      subscriptionStatus: 'active',
      subscriptionEndDate: null,
      billingInterval: 'yearly',
    });
    expect(user.stripeCustomerId).toMatch(/^cus_/);
    expect(user.stripeSubscriptionId).toMatch(/^sub_/);
  });

  test('a declined card leaves the old plan and an open checkout', async () => {
    const person = await server.register();
    const id = await startCheckout(person, 'BASIC', 'monthly');
    const decline = { method: 'POST', json: { action: 'decline' } };
    expect(await person.client.answerTo(`/api/billing/test/checkout/${id}`, decline)).toMatchObject(
      problem(402, 'PAYMENT_FAILED', 'The card was declined. Please try another card.'),
    );
    expect((await person.client.call('getUser', {})).subscriptionTier).toBe('FREE');
    await person.client.call('decideTestCheckout', { params: { id }, body: { action: 'pay' } });
    expect((await person.client.call('getUser', {})).subscriptionTier).toBe('BASIC');
  });

  test('a newer checkout closes the older one, so that two tabs end with one subscription', async () => {
    const person = await server.register();
    const first = await startCheckout(person, 'BASIC', 'monthly');
    const second = await startCheckout(person, 'PREMIUM', 'monthly');
    const payFirst = { method: 'POST', json: { action: 'pay' } };
    expect(await person.client.answerTo(`/api/billing/test/checkout/${first}`, payFirst)).toMatchObject({
      status: 409,
      body: { code: 'CHECKOUT_CLOSED' },
    });
    await person.client.call('decideTestCheckout', { params: { id: second }, body: { action: 'pay' } });
    const third = { method: 'POST', json: { tier: 'BASIC', interval: 'monthly', returnUrl: '/subscription' } };
    expect(await person.client.answerTo('/api/subscription/checkout', third)).toMatchObject({
      status: 409,
      body: { code: 'ALREADY_SUBSCRIBED' },
    });
  });

  test('an expired one leads back and grants nothing', async () => {
    const person = await server.register();
    const id = await startCheckout(person, 'BASIC', 'monthly');
    const input = { params: { id }, body: { action: 'expire' } } as const;
    expect(await person.client.call('decideTestCheckout', input)).toEqual({
      returnUrl: `${server.origin}/subscription?checkout=canceled`,
    });
    expect((await person.client.call('getUser', {})).subscriptionTier).toBe('FREE');
  });

  test('belongs to its owner alone', async () => {
    const [owner, stranger] = [await server.register(), await subscriber('BASIC')];
    const id = await startCheckout(owner, 'BASIC', 'monthly');
    for (const method of ['GET', 'POST'])
      expect(
        await stranger.client.answerTo(`/api/billing/test/checkout/${id}`, {
          method,
          ...(method === 'POST' && { json: { action: 'pay' } }),
        }),
      ).toMatchObject({ status: 404, body: { code: 'CHECKOUT_NOT_FOUND' } });
    const shown = await owner.client.answerTo(`/api/billing/test/checkout/${id}`);
    expect(OPERATIONS.getTestCheckout.answer.parse(shown.body).status).toBe('open');
  });

  test.each([
    'https://evil.test/subscription',
    '//evil.test/',
    'http://127.0.0.1:1/',
    'javascript:alert(1)',
    `http://user@127.0.0.1:${server.port}/`,
    'http://',
  ])('returns to this site only: %s', async (returnUrl) => {
    const { client } = await server.register();
    const init = { method: 'POST', json: { tier: 'BASIC', interval: 'monthly', returnUrl } };
    const answer = problem(400, 'VALIDATION_FAILED', 'returnUrl must be an address of this site');
    expect(await client.answerTo('/api/subscription/checkout', init)).toMatchObject(answer);
    expect(await client.answerTo('/api/subscription/portal', init)).toMatchObject(answer);
  });
});

test('checkout and portal stay at the origin of the browser, because only there it is logged in', async () => {
  const { client } = await server.register();
  const host = `localhost:${server.port}`;
  const headers = { host, origin: `http://${host}`, cookie: client.jar.header(), 'content-type': 'application/json' };
  const returnUrl = `http://${host}/subscription`;
  const openPage = async (path: string): Promise<unknown> => {
    const body = JSON.stringify({ tier: 'BASIC', interval: 'monthly', returnUrl });
    return JSON.parse((await plainCall(server.port, { method: 'POST', path, headers, body })).text);
  };
  expect(await openPage('/api/subscription/checkout')).toEqual({
    url: expect.stringMatching(`^http://${host}/billing/test/checkout/cs_test_`),
  });
  expect(await openPage('/api/subscription/portal')).toEqual({
    url: `http://${host}/billing/test/portal?return=${encodeURIComponent(returnUrl)}`,
  });
});

describe('changing the plan', () => {
  test('is rejected without a subscription, and for Free with its own error', async () => {
    const person = await server.register();
    expect(await change(person, 'FREE')).toMatchObject(problem(400, 'ALREADY_ON_FREE', 'Already on Free plan'));
    expect(await change(person, 'BASIC')).toMatchObject({ status: 400, body: { code: 'NO_SUBSCRIPTION' } });
  });

  test('a plan from DEFAULT_TIER has no subscription that Free could cancel', async () => {
    await using given = await startTestServer({ settings: { BILLING: 'test', DEFAULT_TIER: 'PREMIUM' } });
    const person = await given.register();
    const sentence = 'There is no subscription to cancel. This server gave you your plan without one.';
    const json = { tier: 'FREE', interval: 'monthly', returnUrl: '/subscription' };
    const checkout = await person.client.answerTo('/api/subscription/checkout', { method: 'POST', json });
    expect(checkout).toMatchObject(problem(400, 'NO_SUBSCRIPTION', sentence));
    expect(await change(person, 'FREE')).toMatchObject(problem(400, 'NO_SUBSCRIPTION', sentence));
    expect(await change(person, 'BASIC')).toMatchObject({ status: 400, body: { code: 'NO_SUBSCRIPTION' } });
  });

  test('up, in interval and back down; cancel and renew', async () => {
    const person = await subscriber('BASIC');
    expect(await change(person, 'PREMIUM')).toMatchObject({
      status: 200,
      body: { subscriptionTier: 'PREMIUM', billingInterval: 'monthly', subscriptionEndDate: null },
    });
    expect((await change(person, 'PREMIUM', 'yearly')).body).toMatchObject({ billingInterval: 'yearly' });
    const withoutInterval = { method: 'POST', json: { tier: 'BASIC' } };
    expect((await person.client.answerTo('/api/subscription/change', withoutInterval)).body).toMatchObject({
      subscriptionTier: 'BASIC',
      billingInterval: 'yearly',
    });
    const canceled = await change(person, 'FREE', 'yearly');
    expect(canceled.body).toMatchObject({ subscriptionTier: 'BASIC', subscriptionStatus: 'active' });
    expect(canceled.body).toMatchObject({ subscriptionEndDate: expect.stringMatching(/^20\d\d-.*\.000Z$/) });
    expect((await change(person, 'FREE', 'yearly')).body).toEqual(canceled.body);
    expect((await change(person, 'BASIC', 'yearly')).body).toMatchObject({ subscriptionEndDate: null });
    await change(person, 'FREE', 'yearly');
    expect((await change(person, 'PREMIUM', 'yearly')).body).toMatchObject({
      subscriptionTier: 'PREMIUM',
      subscriptionEndDate: null,
    });
  });

  test('down to Basic deletes the oldest beyond 5 at once, removes favorites, and the rest expire in 7 days', async () => {
    const person = await subscriber('PREMIUM');
    const uids = await createEndpoints(person, 8);
    const [oldest = '', , , , , sixth = ''] = uids;
    for (const uid of [oldest, sixth])
      await person.client.call('changeEndpoint', { params: { uid }, body: { isFavorite: true } });
    const preview = await person.client.call('previewPlanChange', { query: { tier: 'BASIC', interval: 'monthly' } });
    expect(preview).toMatchObject({ at: null, losesFavorites: 2, expiresInMs: 7 * 24 * HOUR });
    expect(preview.deletes.map(({ uid }) => uid)).toEqual(uids.slice(0, 3));
    expect(preview.deletes[0]).toEqual({ uid: oldest, name: 'Endpoint 0', requestCount: 0 });
    const before = server.clock.now();
    await change(person, 'BASIC');
    const left = await person.client.call('listEndpoints', {});
    expect(left.map(({ uid }) => uid)).toEqual(uids.slice(3).toReversed());
    for (const { isFavorite, expiresAt } of left) {
      expect(isFavorite).toBe('false');
      expect(Date.parse(expiresAt ?? '') - before - 7 * 24 * HOUR).toBeGreaterThanOrEqual(0);
      expect(Date.parse(expiresAt ?? '')).toBeLessThanOrEqual(server.clock.now() + 7 * 24 * HOUR);
    }
    expect((await person.client.send(`/h/${oldest}`, { method: 'POST' })).status).toBe(404);
  });

  test('canceled: everything stays until the period ends; then one endpoint is left for 24 hours', async () => {
    const person = await subscriber('BASIC');
    const uids = await createEndpoints(person, 3);
    const [favorite = ''] = uids;
    await person.client.call('changeEndpoint', { params: { uid: favorite }, body: { isFavorite: true } });
    const preview = await person.client.call('previewPlanChange', { query: { tier: 'FREE' } });
    expect(preview).toMatchObject({ losesFavorites: 1, expiresInMs: 24 * HOUR });
    expect(preview.at).toMatch(/^20/);
    expect(preview.deletes.map(({ uid }) => uid)).toEqual(uids.slice(0, 2));
    await change(person, 'FREE');
    expect(await person.client.call('listEndpoints', {})).toHaveLength(3);
    const { stripeCustomerId } = await person.client.call('getUser', {});
    expect(await act(person, 'advance')).toMatchObject({ status: 'canceled' });
    expect(await person.client.call('getUser', {})).toMatchObject({
      subscriptionTier: 'FREE',
      subscriptionStatus: 'inactive',
      subscriptionEndDate: null,
      billingInterval: null,
      stripeSubscriptionId: null,
      stripeCustomerId,
    });
    const left = await person.client.call('listEndpoints', {});
    expect(left.map(({ uid, isFavorite }) => [uid, isFavorite])).toEqual([[uids[2], 'false']]);
    expect(Date.parse(left[0]?.expiresAt ?? '')).toBeLessThanOrEqual(server.clock.now() + 24 * HOUR);
    await pay(person, 'PREMIUM');
    expect((await person.client.call('getUser', {})).subscriptionTier).toBe('PREMIUM');
  });

  test('a failed renewal keeps the plan and says so; it recovers, or ends with the next one', async () => {
    const person = await subscriber('PREMIUM');
    await act(person, 'fail-payment');
    const isPastDue = { subscriptionTier: 'PREMIUM', subscriptionStatus: 'past_due', subscriptionEndDate: null };
    expect(await person.client.call('getUser', {})).toMatchObject(isPastDue);
    const upgrade = await subscriber('BASIC');
    await act(upgrade, 'fail-payment');
    expect(await change(upgrade, 'PREMIUM')).toMatchObject({ status: 402, body: { code: 'PAYMENT_FAILED' } });
    expect((await upgrade.client.call('getUser', {})).subscriptionTier).toBe('BASIC');
    await act(person, 'recover-payment');
    expect(await person.client.call('getUser', {})).toMatchObject({ ...isPastDue, subscriptionStatus: 'active' });
    await act(person, 'fail-payment');
    await act(person, 'advance');
    expect(await person.client.call('getUser', {})).toMatchObject({
      subscriptionTier: 'FREE',
      subscriptionStatus: 'inactive',
    });
  });

  test('the portal leads to the page of the test gateway and back', async () => {
    const person = await subscriber('BASIC');
    const { url } = await person.client.call('createPortal', { body: { returnUrl: '/subscription?tab=1' } });
    expect(new URL(url).pathname).toBe('/billing/test/portal');
    expect(new URL(url).searchParams.get('return')).toBe(`${server.origin}/subscription?tab=1`);
    await act(person, 'cancel');
    expect((await person.client.call('getUser', {})).subscriptionEndDate).not.toBeNull();
    const nobody = await server.register();
    expect(
      await nobody.client.answerTo('/api/subscription/portal', { method: 'POST', json: { returnUrl: '/' } }),
    ).toMatchObject({ status: 400, body: { code: 'NO_SUBSCRIPTION' } });
  });

  test("events can't be sent to the test gateway", async () => {
    const init = { method: 'POST', json: { id: 'evt_1', type: 'customer.subscription.deleted' } };
    expect(await server.visitor().answerTo('/api/subscription/webhook', init)).toMatchObject({
      status: 400,
      body: { code: 'INVALID_SIGNATURE' },
    });
  });
});

test("the test gateway's pages exist in test mode only", async () => {
  await using off = await startTestServer({ settings: { BILLING: 'off' } });
  const { client } = await off.register();
  for (const path of ['/api/billing/test/portal', '/api/billing/test/checkout/cs_test_1']) {
    expect((await client.answerTo(path)).status).toBe(404);
    expect((await client.answerTo(path, { method: 'POST', json: { action: 'none' } })).status).toBe(404);
  }
});

test('the subscription ends with the account', async () => {
  const person = await subscriber('BASIC');
  const customerId = (await person.client.call('getUser', {})).stripeCustomerId ?? '';
  await person.client.call('deleteAccount', { body: { password: person.password } });
  expect(await server.store.findUserByCustomer(customerId)).toBeUndefined();
});
