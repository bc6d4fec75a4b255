import { afterEach, expect, test } from 'vitest';
import { openMailbox } from '../../../../../fixtures/mailbox.ts';
import type { Mailbox } from '../../../../../fixtures/mailbox.ts';
import { createLog } from '../../log.ts';
import { sendOutbox, createMailer } from '../mail/service.ts';
import type { Mailer } from '../mail/service.ts';
import { openMemoryStore } from '../../../test/memory-store.ts';
import { T0, notifiedUser, someSubscription } from '../../../test/store-world.ts';
import { composeSubscriptionNotice, noticeMessage } from './notices.ts';
import type { SubscriptionState } from './rules.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const BASIC = someSubscription();

/** A user with their own store, and the changes of their subscription. */
async function world(emailNotifySubscription = true, emailVerified = true) {
  let now = T0;
  const store = await openMemoryStore(() => now);
  closing.push(store.close);
  const details = { email: 'somebody@example.com', emailVerified };
  const { id: userId } = await notifiedUser(store, { emailNotifySubscription }, details);
  await store.lockBillingAccount({ userId, owner: 'me', claimMs: 1 }, 'key');
  const apply = (state: SubscriptionState | undefined) =>
    store.applySubscription(userId, 'me', state, { now: T0, nextCheckAt: T0 });
  const send = (mailer: Mailer) =>
    sendOutbox(
      {
        store,
        mailer,
        composers: [composeSubscriptionNotice],
        publicUrl: () => 'https://creel.example',
        log: createLog('silent', false, { write: () => undefined }),
      },
      new AbortController().signal,
    );
  return { store, apply, send, later: () => (now += 60_000) };
}

async function mailboxWith(options: Parameters<typeof openMailbox>[0] = {}): Promise<[Mailbox, Mailer]> {
  const mailbox = await openMailbox(options);
  closing.push(mailbox.close);
  return [mailbox, createMailer(mailbox.url, () => 'creel@example.com')];
}
const subjectsOf = ({ mails }: Mailbox) => mails.map(({ headers }) => headers.get('subject'));

test('each change is mailed once, however often it is written', async () => {
  const { apply, send } = await world();
  const [mailbox, mailer] = await mailboxWith();
  const states = [
    BASIC,
    { ...BASIC, tier: 'PREMIUM' } as const,
    { ...BASIC, tier: 'PREMIUM', status: 'past_due' } as const,
    { ...BASIC, tier: 'PREMIUM' } as const,
    { ...BASIC, tier: 'PREMIUM', endsAt: T0 + 1000, canceledBy: 'flag' } as const,
    undefined,
  ];
  for (const state of states) for (const _ of [1, 2, 3]) await apply(state);
  await Promise.all([send(mailer), send(mailer), send(mailer)]);
  await send(mailer);
  expect(subjectsOf(mailbox).toSorted()).toEqual([
    'The payment for your Premium Plan failed',
    'Your Creel plan is now Basic',
    'Your Creel plan is now Premium',
    'Your Premium Plan has ended',
    'Your Premium Plan is canceled',
  ]);
  expect(mailbox.mails[0]?.text).toContain('https://creel.example/subscription');
  const basic = mailbox.mails.find(({ headers }) => headers.get('subject') === 'Your Creel plan is now Basic');
  expect(basic?.text.replaceAll(/\s+/g, ' ')).toContain('room for 5 endpoints, and 1 of them can be a favorite.');
});

test.each([
  ['the switch is off', false, true],
  ['the address is not confirmed', true, false],
])('nobody is mailed while %s', async (_, isOn, isVerified) => {
  const { apply, send } = await world(isOn, isVerified);
  const [mailbox, mailer] = await mailboxWith();
  await apply(BASIC);
  await send(mailer);
  expect(mailbox.mails).toEqual([]);
});

test('a temporary rejection is retried later; a permanent one is not', async () => {
  const { apply, send, later } = await world();
  let isBusy = true;
  const [mailbox, mailer] = await mailboxWith({
    onMailFrom: (_address, _session, done) =>
      isBusy ? done(Object.assign(new Error('Try later'), { responseCode: 451 })) : done(),
  });
  await apply(BASIC);
  await send(mailer);
  isBusy = false;
  await send(mailer);
  expect(mailbox.mails).toHaveLength(0);
  later();
  await send(mailer);
  await send(mailer);
  expect(mailbox.mails).toHaveLength(1);
  await apply(undefined);
  mailbox.refuse = { address: 'somebody@', words: 'No such mailbox' };
  await send(mailer);
  mailbox.refuse = undefined;
  later();
  await send(mailer);
  expect(mailbox.mails).toHaveLength(1);
});

test('a dropped connection is retried; a slow mail server gets the mail once', async () => {
  const { apply, send, later } = await world();
  let drops = 1;
  let taken = 0;
  const [, mailer] = await mailboxWith({
    onData(stream, _session, done) {
      stream.on('data', () => undefined);
      stream.on('end', () => {
        if (drops-- > 0) return done(Object.assign(new Error('Bye'), { responseCode: 421 }));
        taken += 1;
        setTimeout(done, 200);
      });
    },
  });
  await apply(BASIC);
  await send(mailer);
  expect(taken).toBe(0);
  later();
  await Promise.all([send(mailer), send(mailer)]);
  expect(taken).toBe(1);
});

test('a notice says what happens next', () => {
  const message = noticeMessage(
    { kind: 'cancellation-taken', from: 'BASIC', to: 'BASIC', interval: 'monthly', endAt: T0 },
    'https://creel.example',
  );
  expect(message.subject).toBe('Your Basic Plan is canceled');
  expect(message.text).toContain('until January 15, 2027 at 08:00 UTC');
});
