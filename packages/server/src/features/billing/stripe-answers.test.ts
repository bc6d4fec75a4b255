import { createServer } from 'node:http';
import { afterAll, expect, test, vi } from 'vitest';
import { listenLocally } from '../../../../../fixtures/listen-locally.ts';
import { openMemoryStore } from '../../../test/memory-store.ts';
import { STORED, stripeBilling } from '../../../test/stripe-billing.ts';
import { STRIPE_CONFIG } from '../../../test/stripe-server.ts';
import { createLog } from '../../log.ts';
import { GatewayError } from './gateway.ts';
import type { BillingGateway } from './gateway.ts';
import type { SubscriptionState } from './rules.ts';
import { StripeGateway } from './stripe-gateway.ts';

/** Answers in another format, as of a proxy or a host that only resembles Stripe. */

const store = await openMemoryStore();
afterAll(() => store.close());

const PLAN = { tier: 'BASIC', interval: 'monthly' } as const;
const SUBSCRIPTION: SubscriptionState = {
  ...PLAN,
  id: 'sub_1',
  itemId: 'si_1',
  status: 'active',
  createdAt: 0,
  periodEndAt: 0,
  endsAt: null,
  canceledBy: null,
};
const CHECKOUT = { ...PLAN, id: 'key', userId: 1, email: 'a@b.example', customerId: 'cus_1', successUrl: '/' };

const CALLS: readonly [string, (gateway: BillingGateway) => Promise<unknown>][] = [
  ['createCustomer', (gateway) => gateway.createCustomer({ id: 1, email: 'a@b.example' }, 'key')],
  ['createCheckout', (gateway) => gateway.createCheckout({ ...CHECKOUT, cancelUrl: '/' })],
  ['isCheckoutOpen', (gateway) => gateway.isCheckoutOpen('cus_1', 'cs_1')],
  ['listSubscriptions', (gateway) => gateway.listSubscriptions('cus_1', STORED)],
  ['previewChange', (gateway) => gateway.previewChange('cus_1', SUBSCRIPTION, PLAN)],
  ['openPortal', (gateway) => gateway.openPortal('cus_1', '/')],
];

const gatewayOf = (json: string): BillingGateway =>
  stripeBilling(store, async () => new Response(json, { headers: { 'content-type': 'application/json' } }), Date.now)
    .gateway;

test.each(CALLS)('%s fails for an answer without the fields', async (_, call) => {
  for (const json of ['null', '"text"', '7', '[]', '{}', '{"id":null,"url":"javascript:0","status":1,"data":{}}', '<'])
    await expect(call(gatewayOf(json))).rejects.toThrow(GatewayError);
});

const listed = (change: object): string => {
  const item = { id: 'si_1', price: { id: 'price_basic_monthly' }, current_period_end: 1_800_000_000 };
  return JSON.stringify({ data: [{ id: 'sub_1', status: 'active', items: { data: [item] }, ...change }] });
};

test('a subscription with values that a database would change or reject is not read', async () => {
  const read = (change: object) => gatewayOf(listed(change)).listSubscriptions('cus_1', STORED);
  expect(await read({})).toHaveLength(1);
  for (const change of [
    { id: 'sub\0' },
    { id: 's'.repeat(3000) },
    { status: 'a\0b' },
    { cancel_at: 1.0005 },
    { cancel_at: 1e300 },
    { created: -1 },
  ])
    await expect(read(change)).rejects.toThrow(GatewayError);
});

test.each([
  ['in small pieces', ' '],
  ['of any size', ' '.repeat(1_000_000)],
])('a call ends although a response %s does not', async (_, piece) => {
  let [begun, ended] = [0, 0];
  const server = createServer((_request, response) => {
    begun += 1;
    response.writeHead(200, { 'content-type': 'application/json' });
    const timer = setInterval(() => response.writableNeedDrain || response.write(piece), 20);
    response.once('close', () => {
      clearInterval(timer);
      ended += 1;
    });
  });
  const apiBase = `http://127.0.0.1:${await listenLocally(server)}`;
  const log = createLog('silent', false, { write: () => undefined });
  const gateway = new StripeGateway({ config: { ...STRIPE_CONFIG, apiBase }, store, log, now: Date.now });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let error: unknown;
  gateway.openPortal('cus_1', '/').catch((reason: unknown) => (error = reason));
  await expect.poll(() => begun).toBe(1);
  if (piece.length === 1) await vi.advanceTimersByTimeAsync(20_000);
  await expect.poll(() => ended).toBe(1);
  const laterError = async () => (await vi.advanceTimersByTimeAsync(1000), error);
  await expect.poll(laterError).toBeInstanceOf(GatewayError);
  vi.useRealTimers();
  server.close();
});
