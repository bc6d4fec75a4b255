import { destinationSchema, endpointSchema } from '@creel/contract';
import { afterEach, expect, test } from 'vitest';
import { openStore } from '../../src/app.ts';
import { openMailbox } from '../../../../fixtures/mailbox.ts';
import { T0, notifiedUser, someSubscription, unique } from '../store-world.ts';
import { startServerProcess } from '../server-process.ts';
import { signUp } from '../sign-up.ts';
import { ENGINES, createTestClock, settingsOf, startTestServer } from '../test-server.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

test.each(ENGINES)(
  'a notice that a killed process was sending is sent again, with the same Message-ID, on %s',
  async (engine) => {
    const mailbox = await openMailbox();
    closing.push(mailbox.close);
    const database = await settingsOf(engine);
    const settings = { SMTP_URL: mailbox.url, DEFAULT_TIER: 'BASIC', ...database };
    const first = await startServerProcess(settings);
    closing.push(first.stop);
    const { dataDir } = first;
    const person = await signUp(first.origin);
    await person.send('/api/email-verification', { method: 'POST' });
    const [, token = ''] = /token=([\w-]+)/.exec((await mailbox.next()).text) ?? [];
    await person.send('/api/email-verification/confirm', { method: 'POST', json: { token } });
    const created = await person.send('/api/endpoints', { method: 'POST', json: { name: 'Shop' } });
    const { uid, url } = endpointSchema.parse(await created.json());
    const path = `/api/endpoints/${uid}/destinations`;
    await person.send(path, { method: 'POST', json: { url: 'http://127.0.0.1:9/hook' } });
    await Promise.all(Array.from({ length: 50 }, () => fetch(url, { method: 'POST', body: 'x' })));
    const state = async () => destinationSchema.array().parse(await (await person.send(path)).json())[0]?.state.name;
    await expect.poll(state).toBe('paused');
    await first.kill('SIGKILL');

    mailbox.stalls = true;
    const second = await startServerProcess(settings, { dataDir });
    closing.push(second.stop);
    const cutOff = await mailbox.next();
    await second.kill('SIGKILL');
    expect(cutOff.headers.get('subject')).toBe('Forwarding of Shop is paused');

    mailbox.stalls = false;
    // The claim of the killed process lasts two minutes. This one ends at once.
    const store = await openStore({ databaseUrl: database['DATABASE_URL'], dataDir });
    expect(await store.claimMail(0)).toBeDefined();
    await store.close();
    const third = await startTestServer({ engine, settings, dataDir });
    closing.push(third.stop);
    const repeated = await mailbox.next();
    expect(repeated.headers.get('message-id')).toBe(cutOff.headers.get('message-id'));
    expect(repeated.text).toBe(cutOff.text.replaceAll(second.origin, third.origin));
    await expect.poll(() => third.store.claimMail(0)).toBeUndefined();
    expect(mailbox.mails).toHaveLength(3);
  },
  120_000,
);

test('a node whose clock is an hour ahead leaves a notice to the node that sends it', async () => {
  const mailbox = await openMailbox();
  closing.push(mailbox.close);
  const { store, stop } = await startTestServer();
  closing.push(stop);
  const { id } = await notifiedUser(store, { emailNotifySubscription: true });
  await store.lockBillingAccount({ userId: id, owner: 'me', claimMs: 60_000 }, unique('key'));
  await store.applySubscription(id, 'me', someSubscription(), { now: T0, nextCheckAt: T0 });
  expect(await store.claimMail(120_000)).toBeDefined();
  const claims: unknown[] = [];
  const claimMail: typeof store.claimMail = async (...args) => {
    const mail = await store.claimMail(...args);
    claims.push(mail);
    return mail;
  };
  const ahead = createTestClock();
  ahead.advance(3_600_000);
  const settings = { SMTP_URL: mailbox.url };
  const observed = { ...store, claimMail, close: async () => undefined };
  await using _ = await startTestServer({ settings, clock: ahead, openStore: async () => observed });
  await expect.poll(() => claims).toEqual([undefined]);
});
