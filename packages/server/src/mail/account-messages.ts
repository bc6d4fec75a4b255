import { compose } from './message.ts';
import type { Message } from './message.ts';

const ONCE = 'The link works once, for 30 minutes.';

/** The mail with the link to a new password. */
export function passwordResetMessage(username: string, url: string): Message {
  return compose('Set a new password for Creel', [
    `Somebody asked for a new password for the Creel account ${username}. If that was you, open this link:`,
    { label: 'Set a new password', url },
    ONCE,
    'If it was not you, ignore this mail: nothing has changed.',
  ]);
}

/** The mail with the link that proves an address. */
export function verificationMessage(username: string, url: string): Message {
  return compose('Confirm your email address for Creel', [
    `Open this link to confirm that this address belongs to the Creel account ${username}:`,
    { label: 'Confirm email address', url },
    `${ONCE} You are asked to sign in if you are not.`,
    'If you have no such account, ignore this mail.',
  ]);
}

/** The mail of the settings page's test. */
export function testMessage(publicUrl: string): Message {
  return compose('Test mail from Creel', [
    'This is a test mail. It has arrived, so notices will as well.',
    { label: 'Open Creel', url: publicUrl },
  ]);
}
