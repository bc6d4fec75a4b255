import type { TestSubscription } from '@creel/contract';
import { expect, test } from 'vitest';
import { nextDate, portalActions, statusLabel } from './test-portal-page.tsx';

const active: TestSubscription = {
  id: 'sub_1',
  tier: 'BASIC',
  interval: 'monthly',
  price: { cents: 500, currency: 'usd' },
  status: 'active',
  currentPeriodEnd: '2026-12-21T12:00:00.000Z',
  cancelAt: null,
  now: '2026-11-21T12:00:00.000Z',
};
const canceling = { ...active, cancelAt: active.currentPeriodEnd };
const names = (subscription: TestSubscription) => portalActions(subscription).map(({ action }) => action);

test('the actions fit the state', () => {
  expect(names(active)).toEqual(['cancel', 'advance', 'fail-payment', 'end-now']);
  expect(names(canceling)).toEqual(['renew', 'advance', 'end-now']);
  expect(names({ ...active, status: 'past_due' })).toEqual(['recover-payment', 'end-now']);
  expect(names({ ...active, status: 'canceled' })).toEqual([]);
});

test('state and next date have labels', () => {
  expect([statusLabel(active), nextDate(active)]).toEqual(['Active', { name: 'Renews on', value: 'Dec 21' }]);
  expect([statusLabel(canceling), nextDate(canceling)]).toEqual([
    'Active, canceled at the end of the period',
    { name: 'Ends on', value: 'Dec 21' },
  ]);
  const ended = { ...active, status: 'canceled' };
  expect([statusLabel(ended), nextDate(ended)]).toEqual(['Ended', undefined]);
  expect(statusLabel({ ...active, status: 'incomplete' })).toBe('incomplete');
});
