import type { UserSettings } from '@creel/contract';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLog } from '../../log.ts';
import { sendOutbox, MailRefused } from '../mail/service.ts';
import type { Message } from '../mail/service.ts';
import type { NewUser } from '../accounts/queries.ts';
import { openMemoryStore } from '../../../test/memory-store.ts';
import { DAY, T0, anyPlan, notifiedUser, someEndpoint } from '../../../test/store-world.ts';
import { composeExpiryNotice, noticeExpiry, runMaintenance } from './service.ts';
import type { MaintenanceOptions } from './service.ts';

let store: Awaited<ReturnType<typeof openMemoryStore>>;
let databaseTime = T0;
beforeEach(async () => {
  store = await openMemoryStore(() => databaseTime);
});
afterEach(() => store.close());

/** After a temporary failure. */
const RETRY_MS = 60_000;

/** A user who gets notices by default. */
function somebody(details: Partial<NewUser> = {}, settings: Partial<UserSettings> = {}) {
  return notifiedUser(store, { emailNotifyExpiry: true, ...settings }, { subscriptionTier: 'BASIC', ...details });
}

/** One run, a day before `T0 + DAY`. Returns the emails. `refuse` replaces the mail server's response. */
async function round(
  refuse: (to: string) => Error | undefined = () => undefined,
  now = T0,
  signal = new AbortController().signal,
) {
  const mails: { to: string; message: Message; id: string | undefined }[] = [];
  const mailer = {
    async send(to: string, message: Message, id?: string) {
      const refusal = refuse(to);
      if (refusal !== undefined) throw refusal;
      mails.push({ to, message, id });
    },
  };
  const composer = composeExpiryNotice({ store, config: { expiredRetentionMs: 7 * DAY }, now: () => now });
  databaseTime = now;
  const hasMore = await noticeExpiry(store, () => now);
  const log = createLog('silent', false, { write: () => undefined });
  const publicUrl = () => 'https://creel.example';
  await sendOutbox({ store, mailer, composers: [composer], publicUrl, log }, signal);
  return { mails, more: hasMore };
}

test('an owner is mailed a day before, once, with a link to the endpoint', async () => {
  const user = await somebody();
  const { uid } = await someEndpoint(store, { userId: user.id, name: 'Stripe <live>', expiresAt: T0 + DAY });
  expect((await round(undefined, T0 - 1)).mails).toEqual([]);
  const { mails, more } = await round();
  expect(more).toBe(false);
  expect(mails.map(({ to }) => to)).toEqual([user.email]);
  const { subject, text, html } = mails[0]?.message ?? { subject: '', text: '', html: '' };
  expect(subject).toBe('Your endpoint Stripe <live> expires soon');
  expect(text).toContain('Stripe <live> expires on January 16, 2027 at 08:00 UTC.');
  expect(text).toContain(`https://creel.example/endpoints/${uid}`);
  expect(text).toContain('7 days later an expired endpoint is deleted');
  expect(html).toContain('Stripe &lt;live&gt;');
  expect((await round()).mails).toEqual([]);
});

test('several of one owner share a mail', async () => {
  const user = await somebody();
  for (const name of ['One', null]) await someEndpoint(store, { userId: user.id, name, expiresAt: T0 + 5 });
  const { mails } = await round();
  expect(mails.map(({ message }) => message.subject)).toEqual(['2 endpoints expire soon']);
});

test.each([
  ['with the switch off', {}, { emailNotifyExpiry: false }],
  ['on a plan without notices', { subscriptionTier: 'FREE' }, {}],
  ['whose address is not confirmed', { emailVerified: false }, {}],
  ['who named an address that is not confirmed', {}, { email: 'other@example.com' }],
] as const)('nobody is mailed %s', async (_, details, settings) => {
  const user = await somebody(details, settings);
  await someEndpoint(store, { userId: user.id, expiresAt: T0 + 5 });
  expect((await round()).mails).toEqual([]);
});

test('a temporary rejection is retried later; an unreachable user does not block others', async () => {
  const [first, second, third] = [await somebody(), await somebody(), await somebody()];
  for (const { id } of [first, second, third]) await someEndpoint(store, { userId: id, expiresAt: T0 + DAY });
  const down = await round((to) => (to === second.email ? new MailRefused('450 Try later') : undefined));
  expect(down.mails.map(({ to }) => to)).toEqual([first.email]);
  const refused = (to: string) =>
    to === second.email ? new MailRefused('550 No such box', { isPermanent: true }) : undefined;
  const noSuchBox = await round(refused, T0 + RETRY_MS);
  expect(noSuchBox.mails.map(({ to }) => to)).toEqual([third.email]);
  expect((await round(undefined, T0 + 2 * RETRY_MS)).mails).toEqual([]);
});

test('a temporary rejection of one mail does not delay the others', async () => {
  const [first, second, third] = [await somebody(), await somebody(), await somebody()];
  for (const { id } of [first, second, third]) await someEndpoint(store, { userId: id, expiresAt: T0 + DAY });
  const full = new MailRefused('452 Mailbox full', { isOfOneMail: true });
  const { mails } = await round((to) => (to === second.email ? full : undefined));
  expect(mails.map(({ to }) => to)).toEqual([first.email, third.email]);
  expect((await round(undefined, T0 + RETRY_MS)).mails.map(({ to }) => to)).toEqual([second.email]);
});

test('an error and a shutdown keep unsent notices', async () => {
  for (const { id } of [await somebody(), await somebody()])
    await someEndpoint(store, { userId: id, expiresAt: T0 + DAY });
  expect((await round(() => new Error('a fault'))).mails).toEqual([]);
  expect((await round(undefined, T0, AbortSignal.abort())).mails).toEqual([]);
  expect((await round(undefined, T0 + RETRY_MS)).mails).toHaveLength(2);
});

test('a notice that waits for the mail server leaves out endpoints that were renewed, deleted, or have expired', async () => {
  const user = await somebody();
  const [soon, renewed, deleted, later] = [
    await someEndpoint(store, { userId: user.id, name: 'Soon', expiresAt: T0 + 5 }),
    await someEndpoint(store, { userId: user.id, name: 'Renewed', expiresAt: T0 + DAY }),
    await someEndpoint(store, { userId: user.id, name: 'Deleted', expiresAt: T0 + DAY }),
    await someEndpoint(store, { userId: user.id, name: 'Later', expiresAt: T0 + DAY }),
  ];
  await round(() => new MailRefused('450 Try later'));
  await store.changeEndpoint(renewed.id, { favorite: { on: true, now: T0, plans: anyPlan() } });
  await store.deleteEndpoint(deleted.id);
  const { mails } = await round(undefined, T0 + RETRY_MS);
  expect(mails.map(({ message }) => message.subject)).toEqual(['Your endpoint Later expires soon']);
  expect(mails[0]?.message.text).not.toContain(soon.uid);
  expect(mails[0]?.message.text).toContain(later.uid);
});

test('a full run is followed by the next at once', async () => {
  const user = await somebody();
  for (let nth = 0; nth < 51; nth++) await someEndpoint(store, { userId: user.id, expiresAt: T0 + 5 });
  const rounds = [await round(), await round()];
  expect(rounds.map(({ more }) => more)).toEqual([true, false]);
  expect(rounds.map(({ mails }) => mails[0]?.message.subject)).toEqual([
    '50 endpoints expire soon',
    expect.stringMatching(/^Your endpoint webhook\/\S+ expires soon$/),
  ]);
});

/** One run of the maintenance. Returns the endpoints whose viewers were notified of their deletion. */
async function maintain(now: number, more: Partial<MaintenanceOptions> = {}): Promise<number[]> {
  const notified: number[] = [];
  const live: MaintenanceOptions['live'] = {
    publish: (notice) => void (notice.kind === 'gone' && notified.push(notice.endpointId)),
  };
  const config = { expiredRetentionMs: 7 * DAY };
  const log = createLog('silent', false, { write: () => undefined });
  await runMaintenance({ store, config, live, log, now: () => now, isDrained: () => true, ...more });
  return notified;
}

test('an expired endpoint is deleted after its retention, and its viewers are notified', async () => {
  const { id, uid } = await someEndpoint(store, { expiresAt: T0 });
  expect(await maintain(T0 + 7 * DAY)).toEqual([]);
  expect(await store.findEndpoint(uid)).toBeDefined();
  expect(await maintain(T0 + 7 * DAY + 1)).toEqual([id]);
  expect(await store.findEndpoint(uid)).toBeUndefined();
});

test('a failed step of the maintenance is logged, and the others run', async () => {
  const { id } = await someEndpoint(store, { expiresAt: T0 });
  const lines: string[] = [];
  const fails = () => Promise.reject(new Error('busy'));
  const notified = await maintain(T0 + 7 * DAY + 1, {
    store: { ...store, purgeSome: fails, deleteStaleAccountRows: fails, deleteOldBatches: fails },
    log: createLog('error', false, { write: (line) => void lines.push(line) }),
  });
  expect(notified).toEqual([id]);
  expect(lines).toEqual([
    expect.stringContaining('removing cleared requests failed'),
    expect.stringContaining('deleting ended sessions failed'),
    expect.stringContaining('deleting the ids of old batches failed'),
  ]);
});

test('the ids of old batches stay while a batch waits in the overflow log', async () => {
  let deletions = 0;
  const counting: MaintenanceOptions['store'] = { ...store, deleteOldBatches: async () => void (deletions += 1) };
  await maintain(T0, { store: counting, isDrained: () => false });
  expect(deletions).toBe(0);
  await maintain(T0, { store: counting });
  expect(deletions).toBe(1);
});
