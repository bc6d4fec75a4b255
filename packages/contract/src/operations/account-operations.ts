import { z } from 'zod';
import {
  PASSWORD_LONG,
  credentialsSchema,
  passwordChangeSchema,
  passwordSchema,
  registrationSchema,
  sessionSchema,
  userSchema,
  usernameSchema,
} from '../user.ts';
import { MAX_PASSWORD_LENGTH } from '../limits.ts';
import { emailSchema, userSettingsInputSchema, userSettingsSchema } from '../settings.ts';
import type { Operation } from './operation.ts';

const messageSchema = z.object({ message: z.string() });
/** What a mailed link ends in. */
const LINK_BROKEN = 'This link is not complete. Please open it again from the mail, or ask for a new one.';
const tokenSchema = z.string({ error: LINK_BROKEN }).min(1, { error: LINK_BROKEN }).max(200, { error: LINK_BROKEN });

/** Claims as the provider's page told them: compared with what the server knows, and never trusted. */
const claimSchema = (name: string) => z.string({ error: `${name} must be a text` }).nullish();

/** Who the person is: sign-up, sign-in, profile, settings, sessions (contract 4, spec 7). */
export const accountOperations = {
  getUser: {
    method: 'GET',
    path: '/api/user',
    summary: 'The signed-in user',
    access: 'user',
    status: 200,
    answer: userSchema,
    problems: [],
  },
  register: {
    method: 'POST',
    path: '/api/register',
    summary: 'Creates an account and signs in',
    access: 'public',
    body: registrationSchema,
    status: 201,
    answer: userSchema,
    problems: ['RATE_LIMITED'],
  },
  login: {
    method: 'POST',
    path: '/api/login',
    summary: 'Signs in with username and password',
    access: 'public',
    body: credentialsSchema,
    status: 200,
    answer: userSchema,
    problems: ['INVALID_CREDENTIALS', 'RATE_LIMITED'],
  },
  logout: {
    method: 'POST',
    path: '/api/logout',
    summary: 'Ends the session',
    access: 'public',
    status: 204,
    problems: [],
  },
  googleLogin: {
    method: 'POST',
    path: '/api/google-login',
    summary: 'Signs in as the identity that this browser has just proved to the provider',
    access: 'public',
    body: z.object({ email: claimSchema('email'), displayName: claimSchema('displayName'), uid: claimSchema('uid') }),
    status: 200,
    answer: userSchema,
    problems: ['IDENTITY_NOT_PROVEN', 'PASSWORD_FIRST', 'RATE_LIMITED'],
  },
  changeUsername: {
    method: 'PUT',
    path: '/api/profile/username',
    summary: 'Changes the username',
    access: 'user',
    body: z.object({ username: usernameSchema }),
    status: 200,
    answer: userSchema,
    problems: [],
  },
  changePassword: {
    method: 'PUT',
    path: '/api/profile/password',
    summary: 'Changes the password and ends every other session',
    access: 'user',
    body: passwordChangeSchema,
    status: 200,
    answer: messageSchema,
    problems: ['RATE_LIMITED'],
  },
  deleteAccount: {
    method: 'DELETE',
    path: '/api/user',
    summary: 'Deletes the account with everything in it',
    access: 'user',
    body: z.object({
      password: z
        .string({ error: 'Please enter your password' })
        .max(MAX_PASSWORD_LENGTH, { error: PASSWORD_LONG })
        .default(''),
    }),
    status: 204,
    problems: ['RATE_LIMITED', 'SIGN_IN_AGAIN', 'BILLING_FAILED'],
  },
  listSessions: {
    method: 'GET',
    path: '/api/sessions',
    summary: 'Open sessions of the user, newest first',
    access: 'user',
    status: 200,
    answer: z.array(sessionSchema),
    problems: [],
  },
  endOtherSessions: {
    method: 'DELETE',
    path: '/api/sessions',
    summary: 'Signs out everywhere else',
    access: 'user',
    status: 204,
    problems: [],
  },
  getSettings: {
    method: 'GET',
    path: '/api/user/settings',
    summary: 'The settings of the user',
    access: 'user',
    status: 200,
    answer: userSettingsSchema,
    problems: [],
  },
  saveSettings: {
    method: 'POST',
    path: '/api/user/settings',
    summary: 'Replaces the settings of the user',
    access: 'user',
    body: userSettingsInputSchema,
    status: 200,
    answer: userSettingsSchema,
    problems: ['PLAN_LIMIT'],
  },
  testEmail: {
    method: 'POST',
    path: '/api/test-email',
    summary: 'Sends a test mail',
    access: 'user',
    body: z.object({ email: emailSchema }),
    status: 200,
    answer: z.object({ success: z.literal(true), message: z.string() }),
    problems: ['MAIL_FAILED', 'RATE_LIMITED'],
  },
  requestPasswordReset: {
    method: 'POST',
    path: '/api/password-reset',
    summary: 'Mails a link for a new password; the answer is the same whether or not the address is known',
    access: 'public',
    body: z.object({ email: emailSchema }),
    status: 200,
    answer: messageSchema,
    problems: ['MAIL_OFF', 'RATE_LIMITED'],
  },
  resetPassword: {
    method: 'POST',
    path: '/api/password-reset/confirm',
    summary: 'Sets a new password with the token of a mailed link',
    access: 'public',
    body: z.object({ token: tokenSchema, password: passwordSchema }),
    status: 200,
    answer: messageSchema,
    problems: ['LINK_INVALID'],
  },
  requestEmailVerification: {
    method: 'POST',
    path: '/api/email-verification',
    summary: 'Mails a link that proves the address of the account',
    access: 'user',
    status: 200,
    answer: messageSchema,
    problems: ['MAIL_OFF', 'MAIL_FAILED', 'RATE_LIMITED'],
  },
  verifyEmail: {
    method: 'POST',
    path: '/api/email-verification/confirm',
    summary: "Proves the address of the signed-in user's account with the token of a mailed link",
    // Who made an account with somebody else's address must not have it proven by that somebody's click alone.
    access: 'user',
    body: z.object({ token: tokenSchema }),
    status: 200,
    answer: messageSchema,
    problems: ['LINK_INVALID'],
  },
} as const satisfies Record<string, Operation>;
