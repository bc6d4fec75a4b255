import { PLANS } from '@creel/contract';
import type { Endpoint, Tier } from '@creel/contract';
import { isExpired } from './endpoint-labels.ts';

type Lasting = Pick<Endpoint, 'isFavorite' | 'expiresAt'>;

/** How many endpoints count against the plan: those that are not expired (contract 4). */
export function countedEndpoints(endpoints: readonly Lasting[], now: number): number {
  return endpoints.filter((endpoint) => !isExpired(endpoint, now)).length;
}

/** Why one more endpoint can't be created, or `undefined` when it can (spec 5). Before the list is known the server decides. */
export function createBlock(tier: Tier, endpoints: readonly Lasting[] | undefined, now: number): string | undefined {
  if (endpoints === undefined || countedEndpoints(endpoints, now) < PLANS[tier].endpoints) return undefined;
  return PLANS[tier].endpointLimitSentence;
}
