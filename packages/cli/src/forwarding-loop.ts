import { endToEndHeaders, FORWARDING_HEADERS, loopRefusal, viaHeader } from '@creel/contract';
import type { RawHeaders } from '@creel/contract';
import { createHash } from 'node:crypto';

/** The mark of `creel forward` at an endpoint. It does not show the uid, with which anybody could send to the endpoint. */
function markOf(uid: string): string {
  return createHash('sha256').update(`creel forward ${uid}`).digest('base64url').slice(0, 22);
}

/** Why a capture of this endpoint is not sent to another endpoint, or `undefined`. */
export function loopOf(captured: RawHeaders, uid: string): string | undefined {
  return loopRefusal(captured, markOf(uid), 'it was forwarded from this endpoint');
}

/** Returns the headers for another endpoint. A forwarder of its captures finds the mark in them. */
export function markedHeaders(captured: RawHeaders, uid: string): RawHeaders {
  const via = viaHeader(captured, markOf(uid));
  // A sender could name the mark in `Connection`, and the headers that it names are not sent.
  const others = endToEndHeaders(captured).filter(
    ([name]) => name.toLowerCase() !== FORWARDING_HEADERS.via.toLowerCase(),
  );
  return [...others, via];
}
