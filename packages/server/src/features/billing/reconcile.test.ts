import { afterEach, beforeEach, expect, test } from 'vitest';
import { openMemoryStore } from '../../../test/memory-store.ts';
import { stripeBilling } from '../../../test/stripe-billing.ts';
import { STRIPE_CONFIG } from '../../../test/stripe-server.ts';
import { DAY, T0, someUser } from '../../../test/store-world.ts';

const MINUTE = 60_000;
let store: Awaited<ReturnType<typeof openMemoryStore>>;
beforeEach(async () => {
  store = await openMemoryStore();
});
afterEach(() => store.close());

const refuse = () => Response.json({ error: { type: 'invalid_request_error', message: 'No.' } }, { status: 400 });

/** The background check at a time, with the answer of a Stripe. Returns whom it read, and if more are due. */
async function reconcileAt(now: number, answer = refuse): Promise<{ readonly read: string[]; readonly more: boolean }> {
  const read: string[] = [];
  const note: typeof fetch = async (input) => {
    read.push(/customer=(cus_\w+)/.exec(new Request(input).url)?.[1] ?? '');
    return answer();
  };
  const { sync } = stripeBilling(store, note, () => now);
  return { more: await sync.reconcile(new AbortController().signal), read };
}

/** A user with a customer, to be read at T0. */
async function someCustomer(customerId: string): Promise<void> {
  const { id } = await someUser(store);
  await store.lockBillingAccount({ userId: id, owner: 'test', claimMs: 0 }, `key of ${customerId}`);
  await store.setCustomer(id, customerId);
  await store.scheduleBillingCheck(id, T0);
}

test('accounts that fail do not keep others from being read, and are read again after a minute', async () => {
  for (let nth = 0; nth < 25; nth += 1) await someCustomer(`cus_${nth}`);
  const rounds = [await reconcileAt(T0), await reconcileAt(T0), await reconcileAt(T0)];
  expect(rounds.map(({ read, more }) => [read.length, more])).toEqual([
    [20, true],
    [5, false],
    [0, false],
  ]);
  expect(new Set(rounds.flatMap(({ read }) => read)).size).toBe(25);
  expect((await reconcileAt(T0 + MINUTE)).read).toHaveLength(20);
});

test('an account is read by one of two processes that check at the same time', async () => {
  for (let nth = 0; nth < 5; nth += 1) await someCustomer(`cus_${nth}`);
  const rounds = await Promise.all([reconcileAt(T0), reconcileAt(T0)]);
  expect(rounds.flatMap(({ read }) => read).toSorted()).toEqual(['cus_0', 'cus_1', 'cus_2', 'cus_3', 'cus_4']);
});

test.each([
  ['a subscription that may still be paid', 'incomplete', 60 * MINUTE],
  ['no subscription', 'incomplete_expired', DAY],
])('a customer with %s is read again', async (_, status, afterMs) => {
  await someCustomer('cus_1');
  const price = { id: STRIPE_CONFIG.prices.BASIC.monthly };
  const items = { data: [{ id: 'si_1', price, current_period_end: T0 / 1000 }] };
  const subscription = { id: 'sub_1', status, created: 1, cancel_at: null, cancel_at_period_end: false, items };
  const list = () => Response.json({ object: 'list', data: [subscription] });
  const reads = [];
  for (const after of [0, afterMs - 1, afterMs]) reads.push((await reconcileAt(T0 + after, list)).read);
  expect(reads).toEqual([['cus_1'], [], ['cus_1']]);
});

test('an event is remembered for as long as Stripe may send it again', async () => {
  const event = { id: 'evt_1', type: 'invoice.paid', receivedAt: T0 };
  await store.recordEvent(event);
  await store.finishEvent(event.id, T0);
  await reconcileAt(T0 + 30 * DAY);
  expect(await store.recordEvent(event)).toBe(true);
  await reconcileAt(T0 + 32 * DAY);
  expect(await store.recordEvent(event)).toBe(false);
});
