import { PLANS } from '@creel/contract';
import { randomBytes } from 'node:crypto';
import { ProblemError } from '../../http/problem.ts';
import type { LimitReached } from './queries.ts';
import type { EndpointRecord } from '../../database/records.ts';
import type { Handlers } from '../../http/call.ts';
import { presentEndpoint, presentEndpointDetail } from './service.ts';

/** 128 random bits, as 22 characters of `[A-Za-z0-9_-]`. */
const UID_BYTES = 16;

export const endpointHandlers = {
  async listEndpoints({ app, loggedIn }) {
    const endpoints = await app.store.listEndpoints(loggedIn.user.id);
    return endpoints.map((endpoint) => presentEndpoint(endpoint, app.publicUrl()));
  },

  async createEndpoint({ app, loggedIn, body }) {
    const { user } = loggedIn;
    const created = await app.store.createEndpoint(
      {
        uid: randomBytes(UID_BYTES).toString('base64url'),
        userId: user.id,
        name: body.name ?? null,
        source: body.source ?? null,
        createdAt: app.now(),
        autosave: body.autoSaveEnabled ?? user.settings.autoSaveNewEndpoints,
      },
      PLANS,
    );
    if (created === undefined) throw new ProblemError('NOT_SIGNED_IN');
    return presentEndpoint(expectWithinPlan(created), app.publicUrl());
  },

  async getEndpoint({ app, endpoint }) {
    const detail = await app.store.findEndpointDetail(endpoint.uid);
    if (detail === undefined) throw new ProblemError('ENDPOINT_NOT_FOUND');
    return presentEndpointDetail(detail, app.publicUrl(), app.config);
  },

  async changeEndpoint({ app, endpoint, body }) {
    const { isFavorite: on, ...changes } = body;
    const favorite = on === undefined ? undefined : { on, now: app.now(), plans: PLANS };
    // Also after a failure: the change may be stored although its answer was lost, and captures go by a cached endpoint.
    const changed = await app.store
      .changeEndpoint(endpoint.id, { ...changes, favorite })
      .finally(() => app.live.publish({ kind: 'changed', endpointId: endpoint.id }));
    if (changed === undefined) throw new ProblemError('ENDPOINT_NOT_FOUND');
    return presentEndpoint(expectWithinPlan(changed), app.publicUrl());
  },

  async deleteEndpoint({ app, endpoint }) {
    if (!(await app.store.deleteEndpoint(endpoint.id))) throw new ProblemError('ENDPOINT_NOT_FOUND');
    app.live.publish({ kind: 'gone', endpointId: endpoint.id });
    app.purgeSoon();
  },

  /** No call returns the secret. */
  async setSigningSecret({ app, endpoint, body }) {
    await app.signatures.setSecret(endpoint.id, body);
    app.live.publish({ kind: 'changed', endpointId: endpoint.id });
  },

  async deleteSigningSecret({ app, endpoint }) {
    await app.store.deleteSigningSecret(endpoint.id);
    app.live.publish({ kind: 'changed', endpointId: endpoint.id });
  },
} satisfies Handlers;

/** @throws ProblemError PLAN_LIMIT with the sentence of the plan */
function expectWithinPlan(result: EndpointRecord | LimitReached): EndpointRecord {
  if (!('limit' in result)) return result;
  const { endpointLimitSentence, favoriteLimitSentence } = PLANS[result.tier];
  const sentence = result.limit === 'endpoints' ? endpointLimitSentence : favoriteLimitSentence;
  throw new ProblemError('PLAN_LIMIT', { sentence });
}
