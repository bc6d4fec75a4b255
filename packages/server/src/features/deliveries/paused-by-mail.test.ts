import { afterAll, expect, test } from 'vitest';
import { openMailbox } from '../../../../../fixtures/mailbox.ts';
import { confirmEmail } from '../../../test/user-actions.ts';
import { startTestServer } from '../../../test/test-server.ts';

const mailbox = await openMailbox();
let server = await startTestServer({ settings: { SMTP_URL: mailbox.url, DEFAULT_TIER: 'BASIC' } });
afterAll(async () => {
  await server.stop();
  await mailbox.close();
});

test('the owner of a paused destination is mailed once, also if the server stops right after the pause', async () => {
  const { client } = await server.register({ email: 'owner@example.com' });
  await confirmEmail(client, mailbox);
  const { uid } = await client.call('createEndpoint', { body: { name: 'Shop' } });
  const url = 'http://127.0.0.1:9/hook';
  await client.call('createDestination', { params: { uid }, body: { url } });
  for (let sent = 0; sent < 50; sent += 1) await client.send(`/h/${uid}`, { method: 'POST', body: 'x' });
  const state = async () => (await client.call('listDestinations', { params: { uid } }))[0]?.state.name;
  await expect.poll(state).toBe('paused');
  server = await server.restart();
  const mail = await mailbox.next();
  expect(mail.to).toEqual(['owner@example.com']);
  expect(mail.headers.get('subject')).toBe('Forwarding of Shop is paused');
  expect(mail.text).toContain(url);
  expect(mail.text).toContain('50 attempts in a row failed.');
  expect(mail.text).toContain(`${server.origin}/endpoints/${uid}`);
  server = await server.restart();
  // Also claimed ones.
  expect(await server.store.claimMail(0)).toBeUndefined();
});
