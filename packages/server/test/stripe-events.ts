import type { SimulatedCustomer } from '../src/features/billing/simulation.ts';

/** Type and object of the events that Stripe sends for a change of a customer. */
export function eventsOf(before: SimulatedCustomer, after: SimulatedCustomer): { type: string; id: string }[] {
  const known = new Map(before.subscriptions.map((each) => [each.id, each]));
  const bySubscription = after.subscriptions.flatMap((now) => {
    const { id, status, periodEnd } = now;
    const old = known.get(id);
    if (JSON.stringify(old) === JSON.stringify(now)) return [];
    if (status === 'canceled') return [{ type: 'customer.subscription.deleted', id }];
    const isBilled = old?.periodEnd !== periodEnd || old.status !== status;
    return [
      ...(isBilled ? [{ type: status === 'past_due' ? 'invoice.payment_failed' : 'invoice.paid', id }] : []),
      { type: `customer.subscription.${old === undefined ? 'created' : 'updated'}`, id },
    ];
  });
  const byCheckout = after.checkouts.flatMap(({ id, status }) => {
    const wasOpen = before.checkouts.some((each) => each.id === id && each.status === 'open');
    if (!wasOpen || status === 'open') return [];
    return [{ type: `checkout.session.${status === 'complete' ? 'completed' : 'expired'}`, id }];
  });
  return [...bySubscription, ...byCheckout];
}
