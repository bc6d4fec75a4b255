import { PLANS } from '@creel/contract';
import type { Endpoint, Tier } from '@creel/contract';
import { isExpired } from './endpoint-labels.ts';

type Lasting = Pick<Endpoint, 'isFavorite' | 'expiresAt'>;

/** The number of endpoints that count against the plan: all that have not expired. */
export function countedEndpoints(endpoints: readonly Lasting[], now: number): number {
  return endpoints.filter((endpoint) => !isExpired(endpoint, now)).length;
}

/** Why no further endpoint can be created; `undefined` if one can. Before the list is loaded, the server decides. */
export function createBlock(tier: Tier, endpoints: readonly Lasting[] | undefined, now: number): string | undefined {
  if (endpoints === undefined || countedEndpoints(endpoints, now) < PLANS[tier].endpoints) return undefined;
  return PLANS[tier].endpointLimitSentence;
}
