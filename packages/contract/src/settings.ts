import { z } from 'zod';
import { MAX_EMAIL_LENGTH } from './limits.ts';

/** A user's settings. Notices go to `email`. If it is empty, none are sent. */
export const userSettingsSchema = z.object({
  autoSaveNewEndpoints: z.boolean(),
  emailNotifyExpiry: z.boolean(),
  emailNotifySubscription: z.boolean(),
  email: z.string(),
});
export type UserSettings = z.infer<typeof userSettingsSchema>;

export const DEFAULT_USER_SETTINGS: UserSettings = {
  autoSaveNewEndpoints: false,
  emailNotifyExpiry: false,
  emailNotifySubscription: false,
  email: '',
};

export const EMAIL_SENTENCE = 'Please enter a valid email address';

/** An email address, trimmed. The server ignores its case in comparisons. */
export const emailSchema = z
  .string({ error: EMAIL_SENTENCE })
  .trim()
  .max(MAX_EMAIL_LENGTH, { error: EMAIL_SENTENCE })
  .pipe(z.email({ error: EMAIL_SENTENCE }));

const switchSchema = (name: string) => z.boolean({ error: `${name} must be true or false` });

/** Settings to store. The address may be empty if all notices are off. */
export const userSettingsInputSchema = z
  .object({
    autoSaveNewEndpoints: switchSchema('autoSaveNewEndpoints'),
    emailNotifyExpiry: switchSchema('emailNotifyExpiry'),
    emailNotifySubscription: switchSchema('emailNotifySubscription'),
    email: z.string({ error: EMAIL_SENTENCE }).trim().max(MAX_EMAIL_LENGTH, { error: EMAIL_SENTENCE }).default(''),
  })
  .superRefine((settings, context) => {
    const mustBeValid = settings.emailNotifyExpiry || settings.emailNotifySubscription || settings.email !== '';
    if (mustBeValid && !emailSchema.safeParse(settings.email).success) {
      context.addIssue({ code: 'custom', path: ['email'], message: EMAIL_SENTENCE });
    }
  });
