const PREFIX = '/h/';
const AUTHORITY = /^https?:\/\/[^/?#]*/i;
const UID = /^[A-Za-z0-9_-]+/;

/** The destination of a capture: the endpoint's uid, and the rest of the target exactly as sent. */
export interface CaptureTarget {
  readonly uid: string;
  readonly rest: string;
}

/**
 * True when a request target belongs to the capture path. Nothing is decoded or normalized: `/./h/x` and `/%68/x` do
 * not match.
 */
export function isCaptureTarget(target: string): boolean {
  return target.startsWith(PREFIX) || (!target.startsWith('/') && target.replace(AUTHORITY, '').startsWith(PREFIX));
}

/** Parses a request target; of the absolute form (RFC 9112 3.2.2) only the path is used. `undefined` without a uid. */
export function parseCaptureTarget(target: string): CaptureTarget | undefined {
  const path = target.startsWith('/') ? target : target.replace(AUTHORITY, '');
  const uid = UID.exec(path.slice(PREFIX.length))?.[0];
  if (uid === undefined) return undefined;
  const rest = path.slice(PREFIX.length + uid.length);
  return rest === '' || rest.startsWith('/') || rest.startsWith('?') ? { uid, rest } : undefined;
}
