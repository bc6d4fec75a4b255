import { z } from 'zod';
import { storedValue } from '../../ui/stored-value.ts';

/** Whether the replay panel is open. */
export const replayOpenPreference = storedValue('replayOpen', z.boolean(), false);

/** Recent destinations by endpoint uid, newest first. */
export const replayTargetsPreference = storedValue(
  'replayTargets',
  z.record(z.string(), z.array(z.string()).readonly()),
  {},
);

/** Recent destinations by endpoint uid, newest first. */
export type ReplayTargets = Readonly<Record<string, readonly string[]>>;

/** Maximum of destinations per endpoint, and of endpoints. */
export const MAX_TARGETS = 8;
export const MAX_ENDPOINTS = 40;
/** Longer destinations are not remembered. A captured URL may have many kilobytes. */
const MAX_KEPT_LENGTH = 2000;

/** Adds a destination as the newest. */
export function withTarget(targets: ReplayTargets, uid: string, url: string): ReplayTargets {
  if (url.length > MAX_KEPT_LENGTH) return targets;
  const { [uid]: known = [], ...others } = targets;
  const kept = [url, ...known.filter((each) => each !== url)].slice(0, MAX_TARGETS);
  return Object.fromEntries([...Object.entries(others).slice(1 - MAX_ENDPOINTS), [uid, kept]]);
}
