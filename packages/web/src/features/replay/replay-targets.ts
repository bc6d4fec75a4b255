import type { CapturedRequest } from '@creel/contract';
import { z } from 'zod';
import { storedValue } from '../../ui/state.ts';
import { destinationOf } from './destination-url.ts';

/** Recent destinations by endpoint uid, newest first. */
export const replayTargetsPreference = storedValue(
  'replayTargets',
  z.record(z.string(), z.array(z.string()).readonly()),
  {},
);

/** Recent destinations by endpoint uid, newest first. */
export type ReplayTargets = Readonly<Record<string, readonly string[]>>;

/** The last destination by endpoint uid: later replays start with its base. */
export const lastDestinationPreference = storedValue(
  'lastDestination',
  z.record(z.string(), z.object({ path: z.string(), url: z.string() })),
  {},
);

/** Maximum of destinations per endpoint, and of endpoints. */
export const MAX_TARGETS = 8;
export const MAX_ENDPOINTS = 40;
/** Longer destinations are not remembered. A captured URL may have many kilobytes. */
const MAX_KEPT_LENGTH = 2000;

/** Adds a destination as the newest. */
export function withTarget(targets: ReplayTargets, uid: string, url: string): ReplayTargets {
  if (url.length > MAX_KEPT_LENGTH) return targets;
  const known = targets[uid] ?? [];
  return withNewest(targets, uid, [url, ...known.filter((each) => each !== url)].slice(0, MAX_TARGETS));
}

/** Stores where a request was sent: as a recent destination, and as the last one. */
export function rememberDestination(uid: string, request: Pick<CapturedRequest, 'path'>, url: string): void {
  replayTargetsPreference.set(withTarget(replayTargetsPreference.read(), uid, url));
  if (url.length > MAX_KEPT_LENGTH) return;
  lastDestinationPreference.set(withNewest(lastDestinationPreference.read(), uid, destinationOf(request, url)));
}

/** Sets the value of an endpoint. Over the maximum, the endpoint that was set first is dropped. */
function withNewest<T>(values: Readonly<Record<string, T>>, uid: string, value: T): Record<string, T> {
  const { [uid]: _, ...others } = values;
  return Object.fromEntries([...Object.entries(others).slice(1 - MAX_ENDPOINTS), [uid, value]]);
}
