import { afterAll, expect, test } from 'vitest';
import { openMailbox } from '../../../../../fixtures/mailbox.ts';
import { confirmEmail } from '../../../test/user-actions.ts';
import { startTestServer } from '../../../test/test-server.ts';

const DAY_MS = 86_400_000;

const mailbox = await openMailbox();
let server = await startTestServer({ settings: { SMTP_URL: mailbox.url, DEFAULT_TIER: 'BASIC' } });
afterAll(async () => {
  await server.stop();
  await mailbox.close();
});

test('a user who wants it is mailed a day before an endpoint expires, even after downtime', async () => {
  const { client, user } = await server.register({ email: 'owner@example.com' });
  await confirmEmail(client, mailbox);
  await client.call('saveSettings', {
    body: { autoSaveNewEndpoints: false, emailNotifyExpiry: true, emailNotifySubscription: false, email: user.email },
  });
  const { uid } = await client.call('createEndpoint', { body: { name: 'Shop' } });
  server.clock.advance(6.5 * DAY_MS);
  server = await server.restart();
  const mail = await mailbox.next();
  expect(mail.to).toEqual(['owner@example.com']);
  expect(mail.headers.get('subject')).toBe('Your endpoint Shop expires soon');
  expect(mail.text).toContain(`${server.origin}/endpoints/${uid}`);
  server = await server.restart();
  expect((await server.store.findEndpoint(uid))?.uid).toBe(uid);
  expect(await server.store.addExpiryNotices(server.clock.now(), server.clock.now() + DAY_MS, 10)).toBe(0);
  expect(mailbox.mails).toHaveLength(2);
});
