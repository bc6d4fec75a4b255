import { EMAIL_SENTENCE, PROBLEMS } from '@creel/contract';
import { compose, MailRefused } from '../mail/service.ts';
import type { Message } from '../mail/service.ts';
import { invalid, ProblemError } from '../../http/problem.ts';
import type { Handlers } from '../../http/call.ts';

/** The response of a failed test email has `success` besides the problem. */
function testFailed(sentence: string): ProblemError {
  return new ProblemError('MAIL_FAILED', { sentence, extra: { success: false } });
}

function testMessage(publicUrl: string): Message {
  return compose('Test email from Creel', [
    'This is a test email. It has arrived, so notices will as well.',
    { label: 'Open Creel', url: publicUrl },
  ]);
}

export const settingsHandlers = {
  getSettings: async ({ loggedIn }) => loggedIn.user.settings,

  async saveSettings({ app, loggedIn, body }) {
    const changed = await app.store.changeSettings(loggedIn.user.id, body);
    if (changed === undefined) throw new ProblemError('NOT_SIGNED_IN');
    if (!('refused' in changed)) return changed;
    if (changed.refused === 'email') throw invalid({ email: EMAIL_SENTENCE });
    throw new ProblemError('PLAN_LIMIT', { sentence: 'Upgrade plan for email notifications' });
  },

  async testEmail({ app, loggedIn, body, clientAddress }) {
    const { throttle } = app.accounts;
    await throttle.of('testMail', String(loggedIn.user.id)).consume();
    if (app.mailer === undefined) throw testFailed(PROBLEMS.MAIL_FAILED.sentence);
    await throttle.of('testMailAddress', clientAddress).consume();
    try {
      await app.mailer.send(body.email, testMessage(app.publicUrl()));
    } catch (error) {
      if (!(error instanceof MailRefused)) throw error;
      app.log.warn({ err: error }, 'a test email could not be sent');
      throw testFailed(error.message);
    }
    return { success: true, message: `Test email sent to ${body.email}` };
  },
} satisfies Handlers;
