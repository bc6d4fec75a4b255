import type { MemoryBudget, Reservation } from '../../limits/memory-budget.ts';
import type { CachedEndpoint, EndpointCache } from './endpoint-cache.ts';
import type { Refusal } from '../../http/plain-connection.ts';

/** When a sender that could not be served may try again, in seconds. */
export const RETRY_SECONDS = 1;

export interface Admitted {
  readonly endpoint: CachedEndpoint;
  /** Grows with the body; released when the body is stored, or will never be. */
  readonly reservation: Reservation;
}

export interface AdmissionOptions {
  readonly endpoints: EndpointCache;
  readonly budget: MemoryBudget;
  /** Bytes of one body. */
  readonly maxBodyBytes: number;
  readonly now: () => number;
  /** Told when a lookup failed. */
  readonly onFailure: (error: unknown) => void;
}

/** What a request says of itself before its body is read. */
export interface Announced {
  /** Bytes of the body, or -1 when the sender does not say. */
  readonly declaredLength: number;
  /** Bytes of the body that have arrived. */
  readonly bytesAtHand: number;
}

/** Decides about a request; at once when its endpoint is in the cache. */
export type Admit = (uid: string | undefined, announced: Announced) => Admitted | Refusal | Promise<Admitted | Refusal>;

/**
 * Makes the one decision that both readers of the capture path use. The order matters: a request that finds no memory takes no token
 * of its endpoint's rate limit, and every request takes at most one.
 */
export function createAdmit({ endpoints, budget, maxBodyBytes, now, onFailure }: AdmissionOptions): Admit {
  function check(endpoint: CachedEndpoint, { declaredLength, bytesAtHand }: Announced): Admitted | Refusal {
    if (endpoint.expiresAt !== null && endpoint.expiresAt <= now()) return { code: 'ENDPOINT_EXPIRED' };
    if (declaredLength > maxBodyBytes) return { code: 'BODY_TOO_LARGE', close: true };
    const reservation = budget.reserve(endpoint.userId);
    if (!reservation.grow(bytesAtHand)) return { code: 'CAPTURE_UNAVAILABLE', retryAfter: RETRY_SECONDS };
    const wait = endpoint.bucket?.take() ?? 0;
    if (wait === 0) return { endpoint, reservation };
    reservation.release();
    return { code: 'RATE_LIMITED', retryAfter: wait };
  }
  return (uid, announced) => {
    if (uid === undefined) return { code: 'ENDPOINT_NOT_FOUND' };
    const known = endpoints.peek(uid);
    if (known !== undefined) return check(known, announced);
    return endpoints.lookup(uid).then(
      (endpoint) => (endpoint === undefined ? { code: 'ENDPOINT_NOT_FOUND' } : check(endpoint, announced)),
      (error: unknown) => {
        onFailure(error);
        return { code: 'CAPTURE_UNAVAILABLE', retryAfter: RETRY_SECONDS };
      },
    );
  };
}
