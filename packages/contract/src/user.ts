import { z } from 'zod';
import {
  MAX_EMAIL_LENGTH,
  MAX_PASSWORD_LENGTH,
  MAX_USERNAME_LENGTH,
  MIN_PASSWORD_LENGTH,
  MIN_USERNAME_LENGTH,
} from './limits.ts';
import { billingIntervalSchema, tierSchema } from './plan.ts';

const flag = (name: string) => z.boolean(`${name} must be true or false`);

/** A user's settings. Notices go to `email`. If it is empty, none are sent. */
export const userSettingsSchema = z.object({
  autoSaveNewEndpoints: flag('autoSaveNewEndpoints'),
  emailNotifyExpiry: flag('emailNotifyExpiry'),
  emailNotifySubscription: flag('emailNotifySubscription'),
  email: z.string(),
});
export type UserSettings = z.infer<typeof userSettingsSchema>;

/** The settings of a new user. */
export const DEFAULT_USER_SETTINGS: UserSettings = {
  autoSaveNewEndpoints: false,
  emailNotifyExpiry: false,
  emailNotifySubscription: false,
  email: '',
};

export const EMAIL_SENTENCE = 'Please enter a valid email address';

/** An email address, trimmed. The server ignores its case in comparisons. */
export const emailSchema = z
  .string(EMAIL_SENTENCE)
  .trim()
  .max(MAX_EMAIL_LENGTH, EMAIL_SENTENCE)
  .pipe(z.email(EMAIL_SENTENCE));

const settingsFieldsSchema = userSettingsSchema.extend({
  email: z.string(EMAIL_SENTENCE).trim().max(MAX_EMAIL_LENGTH, EMAIL_SENTENCE),
});

/** A change of settings. Missing fields stay as they are. */
export const userSettingsChangeSchema = settingsFieldsSchema.partial();
export type UserSettingsChange = z.infer<typeof userSettingsChangeSchema>;

/** Settings to store. The address may be empty if all notices are off. */
export const userSettingsInputSchema = settingsFieldsSchema.superRefine((settings, context) => {
  const mustBeValid = settings.emailNotifyExpiry || settings.emailNotifySubscription || settings.email !== '';
  if (mustBeValid && !emailSchema.safeParse(settings.email).success) {
    context.addIssue({ code: 'custom', path: ['email'], message: EMAIL_SENTENCE });
  }
});

/** A user in API responses. Never contains the password or anything derived from it. */
export const userSchema = z.object({
  id: z.int(),
  username: z.string(),
  email: z.string(),
  displayName: z.string().nullable(),
  subscriptionTier: tierSchema,
  /** `inactive`, `active`, `canceled`, or another status of the payment provider. */
  subscriptionStatus: z.string(),
  subscriptionEndDate: z.iso.datetime().nullable(),
  billingInterval: billingIntervalSchema.nullable(),
  stripeCustomerId: z.string().nullable(),
  stripeSubscriptionId: z.string().nullable(),
  settings: userSettingsSchema,
  /** True after the user opened an emailed link, or if the login provider has verified the address. */
  emailVerified: z.boolean(),
  /** True for an account that third-party login created: it can't log in by name. */
  thirdPartyOnly: z.boolean(),
});
export type User = z.infer<typeof userSchema>;

const USERNAME_SHORT = 'Username must be at least 3 characters';
const USERNAME_LONG = 'Username must be at most 40 characters';
const USERNAME_CONTROL = 'Username must not contain control characters';
const USERNAME_INVISIBLE = 'Username must not contain invisible characters';
const USERNAME_SPACES = 'Username must not contain two spaces in a row or unusual spaces';
const PASSWORD_SHORT = 'Password must be at least 6 characters';
export const PASSWORD_LONG = 'Password must be at most 1024 characters';

const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
/** Characters without a visible form: default-ignorable characters, the blank Braille pattern and unpaired surrogates. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\u2800\p{Cs}]/u;
/** A page shows two spaces as one. */
const SPACES = /\p{Zs}+/gu;

/**
 * A username: trimmed, 3 to 40 characters, without control, formatting or other invisible characters, and with single spaces. Names
 * must not look empty or equal to another name.
 */
export const usernameSchema = z
  .string(USERNAME_SHORT)
  .trim()
  .min(MIN_USERNAME_LENGTH, USERNAME_SHORT)
  .max(MAX_USERNAME_LENGTH, { error: USERNAME_LONG, abort: true })
  .superRefine((name, context) => {
    const refuse = (message: string) => context.addIssue({ code: 'custom', message });
    if (CONTROL.test(name)) refuse(USERNAME_CONTROL);
    else if (INVISIBLE.test(name)) refuse(USERNAME_INVISIBLE);
    else if (name !== sanitizeUsername(name)) refuse(USERNAME_SPACES);
  });

/** Removes the characters that a username must not contain. */
export function sanitizeUsername(text: string): string {
  const visible = [...text].filter((character) => !CONTROL.test(character) && !INVISIBLE.test(character));
  return visible.join('').replace(SPACES, ' ');
}

const PASSWORD_BROKEN = 'Password must not contain half of a character';
/** An unpaired surrogate has no UTF-8 form, so passwords that differ only in it would have the same hash. */
const wellFormed = (text: string): boolean => text.isWellFormed();

/** A password: at least 6 characters of any kind, not trimmed. */
export const passwordSchema = z
  .string(PASSWORD_SHORT)
  .min(MIN_PASSWORD_LENGTH, PASSWORD_SHORT)
  .max(MAX_PASSWORD_LENGTH, PASSWORD_LONG)
  .refine(wellFormed, PASSWORD_BROKEN);

/**
 * What a user logs in with. A name or password that is too short is invalid input (400). Any other one that no account can have is a
 * wrong login (401).
 */
export const credentialsSchema = z.object({
  username: z.string(USERNAME_SHORT).trim().min(MIN_USERNAME_LENGTH, USERNAME_SHORT),
  password: z.string(PASSWORD_SHORT).min(MIN_PASSWORD_LENGTH, PASSWORD_SHORT),
});
export type Credentials = z.infer<typeof credentialsSchema>;

/** What a user registers with. */
export const registrationSchema = z.object({ username: usernameSchema, password: passwordSchema, email: emailSchema });
export type Registration = z.infer<typeof registrationSchema>;

const NEW_PASSWORD_SHORT = 'New password must be at least 6 characters long';
/** zod counts characters. `length` of a JavaScript string counts UTF-16 units. */
const longEnough = z.string().min(MIN_PASSWORD_LENGTH);

const PASSWORDS_REQUIRED = 'All password fields are required';
const passwordFieldSchema = z.string(PASSWORDS_REQUIRED).max(MAX_PASSWORD_LENGTH, PASSWORD_LONG);

/** A password change. Each problem belongs to one field. */
export const passwordChangeSchema = z
  .object({
    currentPassword: passwordFieldSchema,
    newPassword: passwordFieldSchema,
    confirmPassword: passwordFieldSchema,
  })
  .superRefine((form, context) => {
    const add = (field: keyof typeof form, message: string): void =>
      context.addIssue({ code: 'custom', path: [field], message });
    const empty = (['currentPassword', 'newPassword', 'confirmPassword'] as const).find((field) => form[field] === '');
    if (empty !== undefined) return add(empty, PASSWORDS_REQUIRED);
    if (form.newPassword !== form.confirmPassword) return add('confirmPassword', 'New passwords do not match');
    if (!longEnough.safeParse(form.newPassword).success) add('newPassword', NEW_PASSWORD_SHORT);
    if (!wellFormed(form.newPassword)) add('newPassword', PASSWORD_BROKEN);
  });

/** A session of the user, without its token. */
export const sessionSchema = z.object({
  id: z.string(),
  createdAt: z.iso.datetime(),
  lastSeenAt: z.iso.datetime(),
  userAgent: z.string(),
  ip: z.string(),
  current: z.boolean(),
});
export type Session = z.infer<typeof sessionSchema>;

/** Returns the key for unique addresses: NFKC in lower case. */
export function identityKey(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

/** True if an address is the account's own verified address. Notices go only to such addresses. */
export function isProvenAddress(user: Pick<User, 'email' | 'emailVerified'>, email: string): boolean {
  return user.emailVerified && identityKey(email.trim()) === identityKey(user.email);
}

/** Name of the provider's window, of its BroadcastChannel, and the type of its message. */
export const PROVIDER_CHANNEL = 'creel-sign-in';

/**
 * The message of the provider's window to the page that opened it. It is sent by `postMessage`, and by a
 * BroadcastChannel if the provider cuts the window from its opener. It proves nothing: the server compares it with the
 * identity that it has verified (docs/api.md, "Third-party login").
 */
export const providerMessageSchema = z.object({
  type: z.literal(PROVIDER_CHANNEL),
  /** The `flow` of the start URL. A page ignores the messages of other pages' logins on the channel. */
  flow: z.string().optional(),
  identity: z
    .object({ email: z.string().nullish(), displayName: z.string().nullish(), uid: z.string().nullish() })
    .optional(),
  /** Why there is no identity, as a code. */
  problem: z.string().optional(),
  /** The message for the user, if the code is not specific enough. */
  message: z.string().optional(),
});
export type ProviderMessage = z.infer<typeof providerMessageSchema>;
