import type { UserRecord } from '../../database/store.ts';
import { compose } from './message.ts';
import type { Message } from './message.ts';

const ONCE = 'The link works once, for 30 minutes.';

/** Names that a mail program could turn into a link. */
const LINK_LIKE = /[:/]|\p{L}\.\p{L}{2}/u;

/**
 * The username for a mail. Omits a name that looks like a link while the address is unverified: otherwise anyone could
 * send the address's owner a link through our mail.
 */
function accountOf({ username, emailVerified }: Owner): string {
  return emailVerified || !LINK_LIKE.test(username) ? `Creel account ${username}` : 'Creel account with this address';
}

type Owner = Pick<UserRecord, 'username' | 'emailVerified'>;

/** The mail with the link for a new password. */
export function passwordResetMessage(owner: Owner, url: string): Message {
  return compose('Set a new password for Creel', [
    `Somebody asked for a new password for the ${accountOf(owner)}. If that was you, open this link:`,
    { label: 'Set a new password', url },
    ONCE,
    'If it was not you, ignore this email: nothing has changed.',
  ]);
}

/** The mail with the link that verifies an address. */
export function verificationMessage(owner: Owner, url: string): Message {
  return compose('Confirm your email address for Creel', [
    `Open this link to confirm that this address belongs to the ${accountOf(owner)}:`,
    { label: 'Confirm email address', url },
    `${ONCE} You are asked to sign in if you are not.`,
    'If you have no such account, ignore this email.',
  ]);
}

/** The test mail of the settings page. */
export function testMessage(publicUrl: string): Message {
  return compose('Test email from Creel', [
    'This is a test email. It has arrived, so notices will as well.',
    { label: 'Open Creel', url: publicUrl },
  ]);
}
