import { z } from 'zod';
import { storedValue } from '../../ui/stored-value.ts';

/** Whether the replay panel stands open below a request. */
export const replayOpenPreference = storedValue('replayOpen', z.boolean(), false);

/** Where requests were sent again, by the uid of their endpoint, the newest first. */
export const replayTargetsPreference = storedValue(
  'replayTargets',
  z.record(z.string(), z.array(z.string()).readonly()),
  {},
);

/** Where requests of an endpoint were sent, by its uid, the newest first. */
export type ReplayTargets = Readonly<Record<string, readonly string[]>>;

/** Targets that are kept for each endpoint, and endpoints for which they are. */
export const TARGETS_KEPT = 8;
export const ENDPOINTS_KEPT = 40;
/** A captured target may be of many kilobytes; one that nobody could read is not worth its place in the storage. */
const MAX_KEPT_LENGTH = 2000;

/** The targets with one that was just sent to. */
export function withTarget(targets: ReplayTargets, uid: string, url: string): ReplayTargets {
  if (url.length > MAX_KEPT_LENGTH) return targets;
  const { [uid]: known = [], ...others } = targets;
  const kept = [url, ...known.filter((each) => each !== url)].slice(0, TARGETS_KEPT);
  return Object.fromEntries([...Object.entries(others).slice(1 - ENDPOINTS_KEPT), [uid, kept]]);
}
