import { EMAIL_SENTENCE, PLANS, PROBLEMS, userSettingsInputSchema } from '@creel/contract';
import type { UserSettings } from '@creel/contract';
import type { UserRecord } from '../../database/records.ts';
import { addressBlock } from '../../http/client-address.ts';
import { compose, MailRefused } from '../mail/service.ts';
import type { Message } from '../mail/service.ts';
import { invalid, ProblemError } from '../../http/problem.ts';
import type { Call, Handlers } from '../../http/call.ts';

const NOTIFICATIONS = ['emailNotifyExpiry', 'emailNotifySubscription'] as const;

/** The response of a failed test mail has `success` beside the problem. */
function testFailed(sentence: string): ProblemError {
  return new ProblemError('MAIL_FAILED', { sentence, extra: { success: false } });
}

function testMessage(publicUrl: string): Message {
  return compose('Test email from Creel', [
    'This is a test email. It has arrived, so notices will as well.',
    { label: 'Open Creel', url: publicUrl },
  ]);
}

/** The user's settings after a change. @throws ProblemError VALIDATION_FAILED, PLAN_LIMIT */
function changedSettings(
  { settings, subscriptionTier }: UserRecord,
  change: Call<'saveSettings'>['body'],
): UserSettings {
  const changed = userSettingsInputSchema.safeParse({ ...settings, ...change });
  if (!changed.success) throw invalid({ email: EMAIL_SENTENCE });
  const isSwitchedOn = NOTIFICATIONS.some((notification) => changed.data[notification] && !settings[notification]);
  if (isSwitchedOn && !PLANS[subscriptionTier].emailNotifications) {
    throw new ProblemError('PLAN_LIMIT', { sentence: 'Upgrade plan for email notifications' });
  }
  return changed.data;
}

export const settingsHandlers = {
  getSettings: async ({ signedIn }) => signedIn.user.settings,

  async saveSettings({ app, signedIn, body }) {
    // Another call may change other settings at the same time. Both changes count.
    for (;;) {
      const user = await app.store.findUser(signedIn.user.id);
      if (user === undefined) throw new ProblemError('NOT_SIGNED_IN');
      const changed = changedSettings(user, body);
      if (await app.store.replaceSettings(user.id, user.settings, changed)) return changed;
    }
  },

  async testEmail({ app, signedIn, body, clientAddress }) {
    const { throttle } = app.accounts;
    await throttle.of('testMail', String(signedIn.user.id)).consume();
    if (app.mailer === undefined) throw testFailed(PROBLEMS.MAIL_FAILED.sentence);
    await throttle.of('testMailAddress', addressBlock(clientAddress)).consume();
    try {
      await app.mailer.send(body.email, testMessage(app.publicUrl()));
    } catch (error) {
      if (!(error instanceof MailRefused)) throw error;
      app.log.warn({ err: error }, 'a test mail could not be sent');
      throw testFailed(error.message);
    }
    return { success: true, message: `Test email sent to ${body.email}` };
  },
} satisfies Handlers;
