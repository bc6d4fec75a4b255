const PREFIX = '/h/';
const AUTHORITY = /^https?:\/\/[^/?#]*/i;
const UID = /^[A-Za-z0-9_-]+/;

/** Where a capture goes: the endpoint's uid, and what stands behind it, exactly as sent. */
export interface CaptureTarget {
  readonly uid: string;
  readonly rest: string;
}

/** True when a request target is the capture path's. Nothing is decoded or normalised: `/./h/x` and `/%68/x` are not. */
export function isCaptureTarget(target: string): boolean {
  return target.startsWith(PREFIX) || (!target.startsWith('/') && target.replace(AUTHORITY, '').startsWith(PREFIX));
}

/** Takes a request target apart; the absolute form (RFC 9112 3.2.2) counts by its path alone. `undefined` without a uid. */
export function parseCaptureTarget(target: string): CaptureTarget | undefined {
  const path = target.startsWith('/') ? target : target.replace(AUTHORITY, '');
  const uid = UID.exec(path.slice(PREFIX.length))?.[0];
  if (uid === undefined) return undefined;
  const rest = path.slice(PREFIX.length + uid.length);
  return rest === '' || rest.startsWith('/') || rest.startsWith('?') ? { uid, rest } : undefined;
}
