import { z } from 'zod';
import { MAX_EMAIL_LENGTH } from './limits.ts';

/** The four settings of a user (spec 3). `email` is where notices go; empty means nowhere. */
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

/** An email address, trimmed. Compared without regard to case by the server (contract 2). */
export const emailSchema = z
  .string({ error: EMAIL_SENTENCE })
  .trim()
  .max(MAX_EMAIL_LENGTH, { error: EMAIL_SENTENCE })
  .pipe(z.email({ error: EMAIL_SENTENCE }));

const switchSchema = (name: string) => z.boolean({ error: `${name} must be true or false` });

/** What a settings form sends: the address may stay empty while no notice is on (spec 5). */
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
