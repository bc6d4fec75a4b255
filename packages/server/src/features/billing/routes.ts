import { presentUser } from '../accounts/service.ts';
import type { Call, Finders, Handlers } from '../../http/call.ts';
import type { AppContext } from '../../app-context.ts';
import { ProblemError } from '../../http/problem.ts';
import { GatewayError } from './gateway.ts';
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

/** Runs an action on the test gateway, and reads the account as after an event. */
async function runInTestGateway<T>(
  { app, loggedIn: { user } }: Pick<Call<'actOnTestSubscription'>, 'app' | 'loggedIn'>,
  action: (gateway: TestGateway, customerId: string | null) => Promise<T>,
): Promise<T> {
  const { billing, gateway } = testGatewayOf(app);
  const answer = await billing.sync.locks.run(user.id, () => action(gateway, user.stripeCustomerId));
  await billing.sync.refresh(user.id);
  return answer;
}

/** The checkout in the path. @throws ProblemError CHECKOUT_NOT_FOUND */
const showTestCheckout = ({ app, loggedIn, params }: Pick<Call<'getTestCheckout'>, 'app' | 'loggedIn' | 'params'>) =>
  testGatewayOf(app).gateway.showCheckout(loggedIn.user.stripeCustomerId, params.id);

export const billingFinders = {
  decideTestCheckout: async (call) => void (await showTestCheckout(call)),
  actOnTestSubscription: async ({ app }) => void testGatewayOf(app),
} satisfies Finders;

export const billingHandlers = {
  async createCheckout({ app, request, loggedIn, body }) {
    return { url: await billingOf(app).startCheckout(loggedIn.user, body, request.headers.host) };
  },

  async createPortal({ app, request, loggedIn, body }) {
    return { url: await billingOf(app).openPortal(loggedIn.user, body.returnUrl, request.headers.host) };
  },

  async changeSubscription({ app, loggedIn, body }) {
    return presentUser(await billingOf(app).changePlan(loggedIn.user, body));
  },

  async previewPlanChange({ app, loggedIn, query }) {
    return billingOf(app).preview(loggedIn.user, query.tier, query.interval);
  },

  async receiveBillingEvent({ app, request, rawBody = Buffer.alloc(0) }) {
    const signature = request.headers['stripe-signature'];
    try {
      await billingOf(app).sync.receive(rawBody, typeof signature === 'string' ? signature : undefined);
    } catch (error) {
      // Not acknowledged, so that the event is sent again.
      throw error instanceof GatewayError ? new ProblemError('BILLING_FAILED') : error;
    }
    return { received: true };
  },

  getTestCheckout: async (call) => showTestCheckout(call),

  decideTestCheckout: (call) =>
    runInTestGateway(call, (gateway, customerId) =>
      gateway.decideCheckout(customerId, call.params.id, call.body.action),
    ),

  async getTestSubscription({ app, loggedIn }) {
    return testGatewayOf(app).gateway.showSubscription(loggedIn.user.stripeCustomerId);
  },

  actOnTestSubscription: (call) =>
    runInTestGateway(call, (gateway, customerId) => gateway.act(customerId, call.body.action)),
} satisfies Handlers;
