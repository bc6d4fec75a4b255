import { z } from 'zod';
import { MAX_PASSWORD_LENGTH } from '../limits.ts';
import {
  PASSWORD_LONG,
  credentialsSchema,
  passwordChangeSchema,
  passwordSchema,
  registrationSchema,
  sessionSchema,
  userSchema,
  usernameSchema,
  emailSchema,
  userSettingsChangeSchema,
  userSettingsSchema,
} from '../user.ts';
import type { Operation } from './operation.ts';

const messageSchema = z.object({ message: z.string() });
const LINK_BROKEN = 'This link is not complete. Please open it again from the email, or ask for a new one.';
/** The token at the end of an emailed link. */
const tokenSchema = z.string(LINK_BROKEN).min(1, LINK_BROKEN).max(200, LINK_BROKEN);

/** Claims from the browser. The server compares them with the verified identity and never trusts them. */
const claimSchema = (name: string) => z.string(`${name} must be a text`).nullish();

/** Registration, login, profile, settings and sessions: docs/api.md, "Users". */
export const accountOperations = {
  getUser: {
    method: 'GET',
    path: '/api/user',
    summary: 'Return the logged-in user',
    answer: userSchema,
  },
  register: {
    method: 'POST',
    path: '/api/register',
    summary: 'Create an account and log in',
    access: 'public',
    body: registrationSchema,
    status: 201,
    answer: userSchema,
    problems: ['RATE_LIMITED'],
  },
  login: {
    method: 'POST',
    path: '/api/login',
    summary: 'Log in with username and password',
    access: 'public',
    body: credentialsSchema,
    answer: userSchema,
    problems: ['INVALID_CREDENTIALS', 'RATE_LIMITED'],
  },
  logout: {
    method: 'POST',
    path: '/api/logout',
    summary: 'End the session',
    access: 'public',
  },
  googleLogin: {
    method: 'POST',
    path: '/api/google-login',
    summary: 'Log in with the identity that the provider has just verified for this browser',
    access: 'public',
    body: z.object({ email: claimSchema('email'), displayName: claimSchema('displayName'), uid: claimSchema('uid') }),
    answer: userSchema,
    problems: ['IDENTITY_NOT_PROVEN', 'PASSWORD_FIRST', 'RATE_LIMITED'],
  },
  changeUsername: {
    method: 'PUT',
    path: '/api/profile/username',
    summary: 'Change the username',
    body: z.object({ username: usernameSchema }),
    answer: userSchema,
  },
  changePassword: {
    method: 'PUT',
    path: '/api/profile/password',
    summary: 'Change the password and end all other sessions',
    body: passwordChangeSchema,
    answer: messageSchema,
    problems: ['RATE_LIMITED'],
  },
  deleteAccount: {
    method: 'DELETE',
    path: '/api/user',
    summary: 'Delete the account and all its data',
    body: z.object({
      password: z.string('Please enter your password').max(MAX_PASSWORD_LENGTH, PASSWORD_LONG).default(''),
    }),
    problems: ['RATE_LIMITED', 'SIGN_IN_AGAIN', 'BILLING_FAILED'],
  },
  listSessions: {
    method: 'GET',
    path: '/api/sessions',
    summary: "List the user's sessions, newest first",
    answer: z.array(sessionSchema),
  },
  endOtherSessions: {
    method: 'DELETE',
    path: '/api/sessions',
    summary: 'End all other sessions',
  },
  getSettings: {
    method: 'GET',
    path: '/api/user/settings',
    summary: "Return the user's settings",
    answer: userSettingsSchema,
  },
  saveSettings: {
    method: 'POST',
    path: '/api/user/settings',
    summary: "Change the user's settings",
    body: userSettingsChangeSchema,
    answer: userSettingsSchema,
    problems: ['PLAN_LIMIT'],
  },
  testEmail: {
    method: 'POST',
    path: '/api/test-email',
    summary: 'Send a test email',
    body: z.object({ email: emailSchema }),
    answer: z.object({ success: z.literal(true), message: z.string() }),
    problems: ['MAIL_FAILED', 'RATE_LIMITED'],
  },
  requestPasswordReset: {
    method: 'POST',
    path: '/api/password-reset',
    summary: 'Email a link to set a new password. The response is the same for an unknown address',
    access: 'public',
    body: z.object({ email: emailSchema }),
    answer: messageSchema,
    problems: ['MAIL_OFF', 'RATE_LIMITED'],
  },
  resetPassword: {
    method: 'POST',
    path: '/api/password-reset/confirm',
    summary: 'Set a new password with the token of an emailed link',
    access: 'public',
    body: z.object({ token: tokenSchema, password: passwordSchema }),
    answer: messageSchema,
    problems: ['LINK_INVALID'],
  },
  requestEmailVerification: {
    method: 'POST',
    path: '/api/email-verification',
    summary: "Email a link that verifies the account's address",
    answer: messageSchema,
    problems: ['MAIL_OFF', 'MAIL_FAILED', 'RATE_LIMITED'],
  },
  verifyEmail: {
    method: 'POST',
    path: '/api/email-verification/confirm',
    // Needs a session: otherwise the owner of the address could verify it for a stranger's account with one click.
    summary: "Verify the address of the logged-in user's account with the token of an emailed link",
    body: z.object({ token: tokenSchema }),
    answer: messageSchema,
    problems: ['LINK_INVALID'],
  },
} as const satisfies Record<string, Operation>;
