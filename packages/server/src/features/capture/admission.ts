import type { MemoryBudget, Reservation } from '../../limits/memory-budget.ts';
import type { CachedEndpoint, EndpointCache } from './endpoint-cache.ts';
import type { Refusal } from '../../http/plain-connection.ts';

/** Value of `Retry-After` in seconds for a capture that could not be stored. */
export const RETRY_SECONDS = 1;

export interface Admitted {
  readonly endpoint: CachedEndpoint;
  /** Grows with the body. Released when the body is stored or rejected. */
  readonly reservation: Reservation;
}

export interface AdmissionOptions {
  readonly endpoints: EndpointCache;
  readonly budget: MemoryBudget;
  /** Maximum bytes of one body. */
  readonly maxBodyBytes: number;
  readonly now: () => number;
  /** Called when a lookup failed. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Accepts or rejects a request before its body is read; synchronous when its endpoint is cached. `declaredLength` of the
 * body is -1 if unknown. `bytesAtHand`: bytes of the body that have already arrived.
 */
export type Admit = (
  uid: string | undefined,
  declaredLength: number,
  bytesAtHand: number,
) => Admitted | Refusal | Promise<Admitted | Refusal>;

/**
 * Creates the admission check that both readers use. The order matters: a request without memory takes no rate-limit
 * token, and every request takes at most one.
 */
export function createAdmit({ endpoints, budget, maxBodyBytes, now, onFailure }: AdmissionOptions): Admit {
  function check(endpoint: CachedEndpoint, declaredLength: number, bytesAtHand: number): Admitted | Refusal {
    if (endpoint.expiresAt !== null && endpoint.expiresAt <= now()) return { code: 'ENDPOINT_EXPIRED' };
    if (declaredLength > maxBodyBytes) return { code: 'BODY_TOO_LARGE', close: true };
    const reservation = budget.reserve(endpoint.userId);
    if (!reservation.grow(bytesAtHand)) return { code: 'CAPTURE_UNAVAILABLE', retryAfter: RETRY_SECONDS };
    const wait = endpoint.bucket?.consume() ?? 0;
    if (wait === 0) return { endpoint, reservation };
    reservation.release();
    return { code: 'RATE_LIMITED', retryAfter: wait };
  }
  return (uid, declaredLength, bytesAtHand) => {
    if (uid === undefined) return { code: 'ENDPOINT_NOT_FOUND' };
    const known = endpoints.peek(uid);
    if (known !== undefined) return check(known, declaredLength, bytesAtHand);
    return endpoints.lookup(uid).then(
      (endpoint) =>
        endpoint === undefined ? { code: 'ENDPOINT_NOT_FOUND' } : check(endpoint, declaredLength, bytesAtHand),
      (error: unknown) => {
        onFailure(error);
        return { code: 'CAPTURE_UNAVAILABLE', retryAfter: RETRY_SECONDS };
      },
    );
  };
}
