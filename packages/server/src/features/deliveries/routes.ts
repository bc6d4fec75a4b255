import type { Call, Finders, Handlers } from '../../http/call.ts';
import { LargeAnswer, listJson } from '../../http/large-answer.ts';
import { ProblemError } from '../../http/problem.ts';
import { decodeHead } from '../../database/stored-request.ts';
import { expectFound, parseRequestId } from '../requests/service.ts';
import { presentAttempt, presentDestination, presentPlanned } from './present-delivery.ts';

function destinationId({ params }: Pick<Call<'changeDestination'>, 'params'>): number {
  if (!/^[1-9]\d{0,14}$/.test(params.id)) throw new ProblemError('DESTINATION_NOT_FOUND');
  return Number(params.id);
}

function namedDelivery({ params }: Pick<Call<'retryDelivery'>, 'params'>): string {
  // PostgreSQL's text has no NUL, so that a query for one fails.
  if (params.deliveryId.includes('\0')) throw new ProblemError('DELIVERY_NOT_FOUND');
  return params.deliveryId;
}

/** The request without its body. */
const findRequest = async ({ app, endpoint, params }: Pick<Call<'reportDelivery'>, 'app' | 'endpoint' | 'params'>) =>
  expectFound(await app.store.findRequest(endpoint.id, parseRequestId(params.id), 0));

const findDestination = (call: Pick<Call<'deleteDestination'>, 'app' | 'endpoint' | 'params'>): Promise<void> =>
  call.app.deliveries.expectDestination(call.endpoint.id, destinationId(call));

export const deliveryFinders = {
  changeDestination: findDestination,
  deleteDestination: findDestination,
  listDeliveries: async (call) => void (await findRequest(call)),
  reportDelivery: async (call) => void (await findRequest(call)),
  retryDelivery: (call) => call.app.deliveries.expectDelivery(call.endpoint.id, namedDelivery(call)),
} satisfies Finders;

export const deliveryHandlers = {
  async listDestinations({ app, endpoint }) {
    return (await app.store.listDestinations(endpoint.id)).map(presentDestination);
  },

  async createDestination({ app, endpoint, body }) {
    const created = await app.deliveries.create(endpoint, body);
    app.live.publish({ kind: 'changed', endpointId: endpoint.id });
    return presentDestination(created);
  },

  async changeDestination(call) {
    const changed = await call.app.deliveries.change(call.endpoint, destinationId(call), call.body);
    call.app.live.publish({ kind: 'changed', endpointId: call.endpoint.id });
    return presentDestination(changed);
  },

  async deleteDestination(call) {
    await call.app.deliveries.remove(call.endpoint, destinationId(call));
    call.app.live.publish({ kind: 'changed', endpointId: call.endpoint.id });
  },

  async listDeliveries(call) {
    const { app, endpoint, reserve, readInTurn, query } = call;
    const { index, method, head } = await findRequest(call);
    const planned = query.planned ? await app.store.listPlanned(endpoint.id, index) : [];
    const { target } = decodeHead(head);
    const rawBytes = await app.store.attemptBytes(endpoint.id, index);
    reserve(rawBytes);
    const attempts = await readInTurn(() => app.store.listAttempts(endpoint.id, index));
    // The first attempt may have ended between the two reads.
    const waiting = planned.filter(({ deliveryId }) => attempts.every((attempt) => attempt.deliveryId !== deliveryId));
    const items = [
      ...waiting.map((delivery) => () => presentPlanned(delivery, { method, target })),
      ...attempts.map((attempt) => () => presentAttempt(attempt)),
    ];
    return new LargeAnswer(
      rawBytes,
      listJson(items, (present) => present()),
    );
  },

  async reportDelivery(call) {
    return presentAttempt(await call.app.deliveries.report(await findRequest(call), call.body));
  },

  async retryDelivery(call) {
    await call.app.deliveries.retry(call.endpoint.id, namedDelivery(call));
  },
} satisfies Handlers;
