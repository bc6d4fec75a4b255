import { z } from 'zod';
import { storedValue } from '../ui/state.ts';

/** The user's settings as last loaded or saved; `null` before that. */
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
