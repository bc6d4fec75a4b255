import { presentUser } from '../accounts/service.ts';
import type { Handlers } from '../../http/call.ts';
import type { AppContext } from '../../app-context.ts';
import { ProblemError } from '../../http/problem.ts';
import { GatewayError } from './gateway.ts';
import type { GatewayEvent } from './gateway.ts';
import type { Billing } from './service.ts';
import { TestGateway } from './test-gateway.ts';

/** @throws ProblemError BILLING_OFF */
function billingOf({ billing }: AppContext): Billing {
  if (billing === undefined) throw new ProblemError('BILLING_OFF');
  return billing;
}

/** The test gateway's pages exist only when it is in use. @throws ProblemError NOT_FOUND */
function testGatewayOf({ billing }: AppContext): { billing: Billing; gateway: TestGateway } {
  const gateway = billing?.gateway;
  if (billing === undefined || !(gateway instanceof TestGateway)) throw new ProblemError('NOT_FOUND');
  return { billing, gateway };
}

/** The test gateway's events are handled like Stripe's, without the network. */
async function deliver(billing: Billing, events: readonly GatewayEvent[]): Promise<void> {
  for (const event of events) await billing.sync.receiveEvent(event);
}

/** Plans and payment, and the pages of the test gateway. */
export const billingHandlers = {
  async createCheckout({ app, signedIn, body }) {
    return { url: await billingOf(app).startCheckout(signedIn.user, body) };
  },

  async createPortal({ app, signedIn, body }) {
    return { url: await billingOf(app).openPortal(signedIn.user, body.returnUrl) };
  },

  async changeSubscription({ app, signedIn, body }) {
    return presentUser(await billingOf(app).changePlan(signedIn.user, body));
  },

  async previewPlanChange({ app, signedIn, query }) {
    return billingOf(app).preview(signedIn.user, query.tier, query.interval);
  },

  async receiveBillingEvent({ app, request, rawBody = Buffer.alloc(0) }) {
    const signature = request.headers['stripe-signature'];
    try {
      await billingOf(app).receive(rawBody, typeof signature === 'string' ? signature : undefined);
    } catch (error) {
      // Not acknowledged, so that the event is sent again.
      throw error instanceof GatewayError ? new ProblemError('BILLING_FAILED') : error;
    }
    return { received: true };
  },

  async getTestCheckout({ app, signedIn, params }) {
    return testGatewayOf(app).gateway.showCheckout(signedIn.user.stripeCustomerId, params.id);
  },

  async decideTestCheckout({ app, signedIn, params, body }) {
    const { billing, gateway } = testGatewayOf(app);
    const customerId = signedIn.user.stripeCustomerId;
    const { answer, events } = await billing.sync.locks.run(signedIn.user.id, () =>
      gateway.decideCheckout(customerId, params.id, body.action),
    );
    await deliver(billing, events);
    return answer;
  },

  async getTestSubscription({ app, signedIn }) {
    return testGatewayOf(app).gateway.showSubscription(signedIn.user.stripeCustomerId);
  },

  async actOnTestSubscription({ app, signedIn, body }) {
    const { billing, gateway } = testGatewayOf(app);
    const customerId = signedIn.user.stripeCustomerId;
    const { answer, events } = await billing.sync.locks.run(signedIn.user.id, () =>
      gateway.act(customerId, body.action),
    );
    await deliver(billing, events);
    return answer;
  },
} satisfies Handlers;
