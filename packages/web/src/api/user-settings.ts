import { z } from 'zod';
import { storedValue } from '../ui/stored-value.ts';

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
