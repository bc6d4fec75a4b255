import { afterAll, describe, expect, test, vi } from 'vitest';
import type { TestClient } from '../../../test/test-client.ts';
import { openMailbox } from '../../../../../fixtures/mailbox.ts';
import { someUser } from '../../../test/store-world.ts';
import { startTestServer } from '../../../test/test-server.ts';

const BAD_EMAIL = 'Please enter a valid email address';
const OFF = { autoSaveNewEndpoints: false, emailNotifyExpiry: false, emailNotifySubscription: false, email: '' };
const ALL = {
  autoSaveNewEndpoints: true,
  emailNotifyExpiry: true,
  emailNotifySubscription: true,
  email: 'notices@example.com',
};

const mailbox = await openMailbox();
const paid = await startTestServer({ settings: { DEFAULT_TIER: 'BASIC', SMTP_URL: mailbox.url } });
const free = await startTestServer();
afterAll(async () => {
  await Promise.all([paid.stop(), free.stop()]);
  await mailbox.close();
});

const save = (client: TestClient, json: object) => client.answerTo('/api/user/settings', { method: 'POST', json });

describe('settings', () => {
  test("start with notices off and the account's address", async () => {
    const { client, user } = await paid.register();
    expect(await client.call('getSettings', {})).toEqual({ ...OFF, email: user.email });
  });

  test('are stored completely, with the address trimmed; unknown fields are ignored', async () => {
    const { client } = await paid.register();
    expect(
      await save(client, { ...ALL, email: '  notices@example.com ', subscriptionTier: 'PREMIUM', id: 1 }),
    ).toMatchObject({ status: 200, body: ALL });
    expect(await client.call('getSettings', {})).toEqual(ALL);
    expect(await client.call('getUser', {})).toMatchObject({ settings: ALL, subscriptionTier: 'BASIC' });
    expect((await client.call('createEndpoint', { body: {} })).autosave).toBe('true');
    expect((await client.call('createEndpoint', { body: { autoSaveEnabled: false } })).autosave).toBe('false');
  });

  test('fields that are not sent stay as they are', async () => {
    const { client, user } = await paid.register();
    expect((await save(client, { emailNotifyExpiry: true })).status).toBe(200);
    expect(await save(client, { autoSaveNewEndpoints: true })).toMatchObject({
      status: 200,
      body: { ...OFF, autoSaveNewEndpoints: true, emailNotifyExpiry: true, email: user.email },
    });
    // The notice that is on needs an address.
    expect(await save(client, { email: '' })).toMatchObject({ status: 400, body: { fields: { email: BAD_EMAIL } } });
    expect((await save(client, {})).body).toMatchObject({ emailNotifyExpiry: true, email: user.email });
  });

  test('calls at the same time that change different settings all count', async () => {
    const { client } = await paid.register();
    const calls = Object.entries(ALL).map(([name, value]) => save(client, { [name]: value }));
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await client.call('getSettings', {})).toEqual(ALL);
  });

  test('calls at the same time change settings once each', async () => {
    const { client } = await paid.register();
    const reads = vi.spyOn(paid.store, 'findUser');
    const calls = Array.from({ length: 20 }, (_, nth) => save(client, { email: `user-${nth}@example.com` }));
    for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
    // Calls that start again after each change of another one read the user about 200 times.
    expect(reads.mock.calls.length).toBeLessThanOrEqual(20);
    reads.mockRestore();
  });

  test("calls at the same time can't switch a notice on and remove its address", async () => {
    const { client } = await paid.register();
    const answers = await Promise.all([save(client, { emailNotifyExpiry: true }), save(client, { email: '' })]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400]);
  });

  test.each([
    [{ emailNotifyExpiry: true, email: '' }],
    [{ emailNotifySubscription: true, email: 'nobody' }],
    [{ email: 'nobody' }],
    [{ email: 'a@b.test\nBcc: c@d.test' }],
  ])('refuse %j at the address', async (change) => {
    const { client } = await paid.register();
    expect(await save(client, { ...OFF, ...change })).toMatchObject({
      status: 400,
      body: { error: BAD_EMAIL, fields: { email: BAD_EMAIL } },
    });
  });

  test('an empty address is right while no notice is on', async () => {
    const { client } = await paid.register();
    expect((await save(client, OFF)).status).toBe(200);
  });

  test.each([[{ emailNotifyExpiry: true }], [{ emailNotifySubscription: true }]])(
    'under FREE, switching on %j is for paid plans',
    async (change) => {
      const { client, user } = await free.register();
      expect(await save(client, { ...OFF, ...change, email: user.email })).toMatchObject({
        status: 403,
        body: { code: 'PLAN_LIMIT', error: 'Upgrade plan for email notifications' },
      });
      expect((await save(client, { ...OFF, autoSaveNewEndpoints: true })).status).toBe(200);
    },
  );

  test('a notice from a former paid plan may stay or be removed under FREE', async () => {
    const { user, password } = await free.register();
    const left = { ...OFF, emailNotifyExpiry: true, email: user.email };
    const registered = await free.store.findUser(user.id);
    const former = await someUser(free.store, { passwordHash: registered?.passwordHash ?? null, settings: left });
    const client = free.visitor();
    await client.call('login', { body: { username: former.username, password } });
    expect((await save(client, { ...left, autoSaveNewEndpoints: true })).status).toBe(200);
    expect((await save(client, OFF)).status).toBe(200);
    expect((await save(client, left)).status).toBe(403);
  });
});

describe('the test mail', () => {
  const testEmail = (client: TestClient, email: unknown) =>
    client.answerTo('/api/test-email', { method: 'POST', json: { email } });

  test('arrives as text and HTML, from an address at the public host', async () => {
    const { client } = await paid.register();
    expect(await testEmail(client, 'me@example.com')).toMatchObject({
      status: 200,
      body: { success: true, message: 'Test email sent to me@example.com' },
    });
    const mail = await mailbox.next();
    expect(mail).toMatchObject({ from: 'no-reply@[127.0.0.1]', to: ['me@example.com'] });
    expect(mail.headers.get('subject')).toBe('Test email from Creel');
    expect(mail.headers.get('from')).toContain('Creel');
    expect(mail.text).toContain(paid.origin);
    expect(mail.html).toContain(`<a href="${paid.origin}">`);
  });

  test("fails with the mail server's own words, and is counted", async () => {
    const { client } = await paid.register();
    mailbox.refuse = { address: 'full@', words: 'Mailbox is full, try <b>never</b>' };
    const words = '550 Mailbox is full, try <b>never</b>';
    expect(await testEmail(client, 'full@example.com')).toMatchObject({
      status: 502,
      body: { success: false, message: words, error: words, code: 'MAIL_FAILED' },
    });
    for (let n = 0; n < 4; n += 1) expect((await testEmail(client, 'full@example.com')).status).toBe(502);
    const refused = await testEmail(client, 'full@example.com');
    expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3000);
  });

  test('is not sent to an address that would add a header or a recipient', async () => {
    const { client } = await paid.register();
    for (const email of [
      'a@b.test\r\nBcc: c@d.test',
      'a@b.test, c@d.test',
      '"a@b.test" <c@d.test>',
      '',
      undefined,
      ['a@b.test'],
    ]) {
      expect(await testEmail(client, email)).toMatchObject({ status: 400, body: { fields: { email: BAD_EMAIL } } });
    }
  });

  test('without SMTP_URL fails with a sentence, and is counted', async () => {
    const { client } = await free.register();
    const sentence = 'Failed to send test email. Please check SMTP server settings.';
    for (let n = 0; n < 5; n += 1)
      expect(await testEmail(client, 'me@example.com')).toMatchObject({
        status: 502,
        body: { success: false, message: sentence, error: sentence, code: 'MAIL_FAILED' },
      });
    expect((await testEmail(client, 'me@example.com')).status).toBe(429);
    expect((await free.visitor().call('getServiceInfo', {})).mail).toBe(false);
    expect((await paid.visitor().call('getServiceInfo', {})).mail).toBe(true);
  });

  test('to an unreachable mail server says only that, and the log has the address', async () => {
    await using own = await startTestServer({
      settings: {
        LOG_LEVEL: 'warn',
        SMTP_URL: 'smtp://user:canary-smtp@127.0.0.1:9',
        MAIL_FROM: 'Hooks <hooks@example.com>',
      },
    });
    const { client } = await own.register();
    const answer = await testEmail(client, 'me@example.com');
    expect(answer).toMatchObject({
      status: 502,
      body: {
        success: false,
        error: "The mail server can't be reached. The server's log has the details.",
        code: 'MAIL_FAILED',
      },
    });
    expect(JSON.stringify(answer.body)).not.toMatch(/canary-smtp|127\.0\.0\.1/);
    expect(own.log()).toContain('127.0.0.1:9');
    expect(own.log()).not.toContain('canary-smtp');
  });
});
