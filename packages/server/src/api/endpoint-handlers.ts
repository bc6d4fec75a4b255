import { PLANS } from '@creel/contract';
import { randomBytes } from 'node:crypto';
import { ProblemError } from '../problem.ts';
import type { EndpointChanges } from '../storage/store.ts';
import type { Call, Handlers } from './call.ts';
import { presentEndpoint, presentEndpointDetail } from './present-endpoint.ts';

/** 128 random bits, as 22 characters of `[A-Za-z0-9_-]` (contract 2). */
const UID_BYTES = 16;

export const endpointHandlers = {
  async listEndpoints({ app, signedIn }) {
    const endpoints = await app.store.listEndpoints(signedIn.user.id);
    return endpoints.map((endpoint) => presentEndpoint(endpoint, app.publicUrl()));
  },

  async createEndpoint({ app, signedIn, body }) {
    const { user } = signedIn;
    const plan = PLANS[user.subscriptionTier];
    const now = app.now();
    const endpoint = await app.store.createEndpoint(
      {
        uid: randomBytes(UID_BYTES).toString('base64url'),
        userId: user.id,
        name: body.name ?? null,
        source: body.source ?? null,
        createdAt: now,
        expiresAt: now + plan.expiryMs,
        autosave: body.autoSaveEnabled ?? user.settings.autoSaveNewEndpoints,
      },
      plan.endpoints,
    );
    if (endpoint === undefined) throw new ProblemError('NOT_SIGNED_IN');
    if (endpoint === 'limit') throw new ProblemError('PLAN_LIMIT', { sentence: plan.endpointLimitSentence });
    return presentEndpoint(endpoint, app.publicUrl());
  },

  async getEndpoint({ app, endpoint }) {
    const detail = await app.store.findEndpointDetail(endpoint.uid);
    if (detail === undefined) throw new ProblemError('ENDPOINT_NOT_FOUND');
    return presentEndpointDetail(detail, app.publicUrl(), app.config.maxSavedPerEndpoint);
  },

  async changeEndpoint(call) {
    const { app, endpoint, signedIn } = call;
    const changed = await app.store.changeEndpoint(endpoint.id, changesOf(call));
    if (changed === undefined) throw new ProblemError('ENDPOINT_NOT_FOUND');
    const plan = PLANS[signedIn.user.subscriptionTier];
    if (changed === 'limit') throw new ProblemError('PLAN_LIMIT', { sentence: plan.favoriteLimitSentence });
    if (changed === 'endpoint-limit') throw new ProblemError('PLAN_LIMIT', { sentence: plan.endpointLimitSentence });
    app.forgetEndpoint(endpoint.uid);
    app.live.publish(endpoint.id, { type: 'changed' });
    return presentEndpoint(changed, app.publicUrl());
  },

  async deleteEndpoint({ app, endpoint }) {
    if (!(await app.store.deleteEndpoint(endpoint.id))) throw new ProblemError('ENDPOINT_NOT_FOUND');
    app.forgetEndpoint(endpoint.uid);
    app.live.publish(endpoint.id, { type: 'gone' });
    app.purgeSoon();
  },
} satisfies Handlers;

function changesOf({ app, body, signedIn }: Call<'changeEndpoint'>): EndpointChanges {
  const plan = PLANS[signedIn.user.subscriptionTier];
  const favorite = body.isFavorite
    ? ({ on: true, limit: plan.favorites, endpointLimit: plan.endpoints, now: app.now() } as const)
    : ({ on: false, expiresAt: app.now() + plan.expiryMs } as const);
  return {
    ...(body.name === undefined ? {} : { name: body.name }),
    ...(body.source === undefined ? {} : { source: body.source }),
    ...(body.autosave === undefined ? {} : { autosave: body.autosave }),
    ...(body.isFavorite === undefined ? {} : { favorite }),
  };
}
