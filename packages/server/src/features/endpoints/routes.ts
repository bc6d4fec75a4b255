import { PLANS } from '@creel/contract';
import type { EndpointChange, Plan } from '@creel/contract';
import { randomBytes } from 'node:crypto';
import { ProblemError } from '../../http/problem.ts';
import type { AppContext } from '../../app-context.ts';
import type { EndpointChanges } from './queries.ts';
import type { UserRecord } from '../../database/records.ts';
import type { Handlers } from '../../http/call.ts';
import { presentEndpoint, presentEndpointDetail } from './service.ts';

/** 128 random bits, as 22 characters of `[A-Za-z0-9_-]`. */
const UID_BYTES = 16;

export const endpointHandlers = {
  async listEndpoints({ app, signedIn }) {
    const endpoints = await app.store.listEndpoints(signedIn.user.id);
    return endpoints.map((endpoint) => presentEndpoint(endpoint, app.publicUrl()));
  },

  async createEndpoint({ app, signedIn, body }) {
    const endpoint = await underCurrentPlan(app, signedIn.user, async (user) => {
      const plan = PLANS[user.subscriptionTier];
      const now = app.now();
      const created = await app.store.createEndpoint(
        {
          tier: plan.tier,
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
      if (created === undefined) throw new ProblemError('NOT_SIGNED_IN');
      if (created === 'limit') throw new ProblemError('PLAN_LIMIT', { sentence: plan.endpointLimitSentence });
      return created;
    });
    return presentEndpoint(endpoint, app.publicUrl());
  },

  async getEndpoint({ app, endpoint }) {
    const detail = await app.store.findEndpointDetail(endpoint.uid);
    if (detail === undefined) throw new ProblemError('ENDPOINT_NOT_FOUND');
    return presentEndpointDetail(detail, app.publicUrl(), app.config);
  },

  async changeEndpoint({ app, endpoint, body, signedIn }) {
    const changed = await underCurrentPlan(app, signedIn.user, async (user) => {
      const plan = PLANS[user.subscriptionTier];
      const result = await app.store.changeEndpoint(endpoint.id, changesOf(body, plan, app.now()));
      if (result === undefined) throw new ProblemError('ENDPOINT_NOT_FOUND');
      if (result === 'limit') throw new ProblemError('PLAN_LIMIT', { sentence: plan.favoriteLimitSentence });
      if (result === 'endpoint-limit') throw new ProblemError('PLAN_LIMIT', { sentence: plan.endpointLimitSentence });
      return result;
    });
    app.forgetEndpoint(endpoint.uid);
    app.live.publish(endpoint.id, { type: 'changed' });
    return presentEndpoint(changed, app.publicUrl());
  },

  async deleteEndpoint({ app, endpoint }) {
    if (!(await app.store.deleteEndpoint(endpoint.id))) throw new ProblemError('ENDPOINT_NOT_FOUND');
    app.forgetEndpoint(endpoint.uid);
    app.live.publish(endpoint.id, { type: 'endpoint-deleted' });
    app.purgeSoon();
  },
} satisfies Handlers;

/** A plan can change between reading the user and writing. Each attempt reads it again. */
const PLAN_TRIES = 5;

/** Runs a write with the limits of the user's current plan. */
async function underCurrentPlan<T>(
  app: AppContext,
  signedIn: UserRecord,
  write: (user: UserRecord) => Promise<T | 'stale-plan'>,
): Promise<T> {
  let user: UserRecord | undefined = signedIn;
  for (let tries = 0; tries < PLAN_TRIES && user !== undefined; tries++) {
    const result = await write(user);
    if (result !== 'stale-plan') return result;
    user = await app.store.findUser(signedIn.id);
  }
  throw user === undefined ? new ProblemError('NOT_SIGNED_IN') : new ProblemError('UNAVAILABLE', { retryAfter: 1 });
}

function changesOf(body: EndpointChange, plan: Plan, now: number): EndpointChanges {
  const { tier, favorites: limit, endpoints: endpointLimit, expiryMs } = plan;
  const favorite = body.isFavorite
    ? ({ on: true, limit, endpointLimit, now, tier } as const)
    : ({ on: false, expiresAt: now + expiryMs } as const);
  return {
    ...(body.name === undefined ? {} : { name: body.name }),
    ...(body.source === undefined ? {} : { source: body.source }),
    ...(body.autosave === undefined ? {} : { autosave: body.autosave }),
    ...(body.isFavorite === undefined ? {} : { favorite }),
  };
}
