import { endToEndHeaders, FORWARDING_HEADERS, forwardingMarks, MAX_HOPS } from '@creel/contract';
import type { RawHeaders } from '@creel/contract';
import { createHash } from 'node:crypto';

/** The mark of `creel forward` at an endpoint. It does not show the uid, with which anybody could send to the endpoint. */
function markOf(uid: string): string {
  return createHash('sha256').update(`creel forward ${uid}`).digest('base64url').slice(0, 22);
}

/** Why a capture of this endpoint is not sent to another endpoint, or `undefined`. */
export function loopOf(captured: RawHeaders, uid: string): string | undefined {
  const marks = forwardingMarks(captured);
  if (marks.includes(markOf(uid)))
    return 'Not forwarded: it was forwarded from this endpoint before, so it would go in a loop';
  return marks.length < MAX_HOPS ? undefined : `Not forwarded: the request was forwarded ${MAX_HOPS} times already`;
}

/** Returns the headers for another endpoint. Whoever forwards its captures finds the mark in them. */
export function markedHeaders(captured: RawHeaders, uid: string): RawHeaders {
  const { via } = FORWARDING_HEADERS;
  // A sender could name the mark in `Connection`, and the headers that it names are not sent.
  const others = endToEndHeaders(captured).filter(([name]) => name.toLowerCase() !== via.toLowerCase());
  return [...others, [via, [...forwardingMarks(captured), markOf(uid)].join(', ')]];
}
