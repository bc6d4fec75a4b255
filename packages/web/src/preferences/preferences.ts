import { useSyncExternalStore } from 'react';
import { z } from 'zod';
import { storedValue } from './stored-value.ts';
import type { StoredValue } from './stored-value.ts';

export const THEMES = ['light', 'dark', 'system'] as const;

/** Light, dark, or what the system says. */
export const themePreference = storedValue('theme', z.enum(THEMES), 'system');

/** The last known settings under the name of spec 3; `null` until they were saved or loaded here once. */
export const userSettingsPreference = storedValue(
  'userSettings',
  z
    .object({
      autoSaveNewEndpoints: z.boolean(),
      emailNotifyExpiry: z.boolean().exactOptional(),
      emailNotifySubscription: z.boolean().exactOptional(),
      email: z.string().exactOptional(),
    })
    .nullable(),
  null,
);

/** Sizes of draggable panes by name, as a share of the whole between 0 and 1. */
const paneSizesPreference = storedValue('paneSizes', z.record(z.string(), z.number().min(0).max(1)), {});

/** How a pane is divided: where it begins, and how far the first part goes. */
export interface PaneBounds {
  readonly initial: number;
  readonly least: number;
  readonly most: number;
}

/** The remembered share of a pane's first part, within its bounds, and what changes it: what a `PaneDivider` wants to know. */
export function usePaneShare(name: string, { initial, least, most }: PaneBounds) {
  const [sizes, setSizes] = usePreference(paneSizesPreference);
  const onShare = (wanted: number): void => setSizes({ ...sizes, [name]: wanted });
  const share = Math.min(most, Math.max(least, sizes[name] ?? initial));
  return { share, least, most, onShare, onReset: () => onShare(initial) };
}

/** Whether the replay panel stands open below a request. */
export const replayOpenPreference = storedValue('replayOpen', z.boolean(), false);

/** Where requests were sent again, by the uid of their endpoint, the newest first. */
export const replayTargetsPreference = storedValue(
  'replayTargets',
  z.record(z.string(), z.array(z.string()).readonly()),
  {},
);

/** A preference and what changes it: the one way of components to local storage. */
export function usePreference<T>(stored: StoredValue<T>): readonly [T, (value: T) => void] {
  return [useSyncExternalStore(stored.subscribe, stored.read), stored.write];
}
