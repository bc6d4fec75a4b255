import { afterEach, expect, test, vi } from 'vitest';
import { createServer } from 'node:net';
import type { SMTPServerOptions } from 'smtp-server';
import { listenLocally } from '../../../../../fixtures/listen-locally.ts';
import { openMailbox } from '../../../../../fixtures/mailbox.ts';
import { MailRefused, createMailer, compose, escapeHtml, defaultSender, moment } from './service.ts';

test('a time is in UTC', () => {
  vi.stubEnv('TZ', 'Asia/Kolkata');
  expect(moment(Date.UTC(2026, 10, 21, 20, 41))).toBe('November 21, 2026 at 20:41');
});

test('both forms have the same content; a link is on its own line', () => {
  const message = compose('A subject', ['First', { label: 'Open', url: 'https://creel.example/x?a=1&b=2' }]);
  expect(message.text).toBe('First\n\nhttps://creel.example/x?a=1&b=2\n\n-- \nCreel\n');
  expect(message.html).toContain('>First</p>');
  expect(message.html).toContain('<a href="https://creel.example/x?a=1&amp;b=2">Open</a>');
});

test('nothing becomes a header or markup', () => {
  const message = compose('Hello\r\nBcc: everybody@example.com\u2028X', [
    '<script>alert("x")</script>',
    { label: '<b>', url: `javascript:'"><img>` },
  ]);
  expect(message.subject).toBe('Hello Bcc: everybody@example.com X');
  expect(message.html).not.toMatch(/<script|<img|<b>|\r\nBcc/);
  expect(message.text).toContain('<script>alert("x")</script>');
});

test('every character of HTML is escaped', () => {
  expect(escapeHtml(`<a href="x" title='y'>&amp;</a>`)).toBe(
    '&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;amp;&lt;/a&gt;',
  );
});

test.each([
  ['https://creel.example', 'Creel <no-reply@creel.example>'],
  ['http://localhost:3000', 'Creel <no-reply@localhost>'],
  ['http://127.0.0.1:3000', 'Creel <no-reply@[127.0.0.1]>'],
  ['http://[::1]:3000', 'Creel <no-reply@[IPv6:::1]>'],
])('without MAIL_FROM, mails from %s are from %s', (publicUrl, sender) => {
  expect(defaultSender(publicUrl)).toBe(sender);
});

const MESSAGE = compose('Ünïcode — a subject that is long enough to be folded into several lines of a header', [
  'Grüße 🦀',
  { label: 'Open', url: `https://creel.example/auth/reset?token=${'x'.repeat(90)}` },
]);
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function wordsOf(sending: Promise<void>): Promise<string> {
  const error: unknown = await sending.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof MailRefused)) throw new Error(`Not refused as expected: ${String(error)}`);
  return error.message;
}

test('a mail arrives complete, in both forms, with one recipient', async () => {
  const mailbox = await openMailbox();
  closing.push(mailbox.close);
  await createMailer(mailbox.url, () => 'Ålbert <from@example.com>').send('to@example.com', MESSAGE);
  const mail = await mailbox.next();
  expect(mail).toMatchObject({ from: 'from@example.com', to: ['to@example.com'] });
  expect(mail.text.replaceAll('\r\n', '\n').trim()).toBe(MESSAGE.text.trim());
  expect(mail.html.replaceAll('\r\n', '\n').trim()).toBe(MESSAGE.html.trim());
  expect([...mail.headers.keys()].toSorted()).toEqual([
    'content-type',
    'date',
    'from',
    'message-id',
    'mime-version',
    'subject',
    'to',
  ]);
});

test('a sender with a line break adds no header', async () => {
  const mailbox = await openMailbox();
  closing.push(mailbox.close);
  const mailer = createMailer(mailbox.url, () => 'Creel\r\nX-Injected: 1 <from@example.com>');
  await mailer.send('to@example.com', MESSAGE);
  const mail = await mailbox.next();
  expect(mail.from).toBe('from@example.com');
  expect([...mail.headers.keys()]).not.toContain('x-injected');
});

test.each([
  'to@example.com\r\nBcc: more@example.com',
  'to@example.com,more@example.com',
  '<to@example.com> <more@example.com>',
])('%j is not two addresses, but a wrong one', async (to) => {
  const mailbox = await openMailbox();
  closing.push(mailbox.close);
  const words = await wordsOf(createMailer(mailbox.url, () => 'from@example.com').send(to, MESSAGE));
  expect(words).toBe('501 Error: Bad recipient address syntax');
  expect(mailbox.mails).toEqual([]);
});

test("a rejection is reported in the server's words, without a password in them", async () => {
  const mailbox = await openMailbox({
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: (auth, _session, done) => done(new Error(`I do not know ${auth.username} with ${auth.password}`)),
  });
  closing.push(mailbox.close);
  const url = mailbox.url.replace('smtp://', 'smtp://somebody:canary%2Bsmtp@');
  const words = await wordsOf(createMailer(url, () => 'a@example.com').send('to@example.com', MESSAGE));
  expect(words).toContain('I do not know somebody with');
  expect(words).not.toContain('canary');
});

test('long or multi-line responses become one line that can be shown', async () => {
  const mailbox = await openMailbox();
  closing.push(mailbox.close);
  mailbox.refuse = { address: 'to@', words: 'x'.repeat(2000) };
  expect(
    (await wordsOf(createMailer(mailbox.url, () => 'a@example.com').send('to@example.com', MESSAGE))).length,
  ).toBeLessThanOrEqual(301);
});

test('unreachable: the error says so', async () => {
  // The first port is closed.
  const words = await wordsOf(
    createMailer('smtp://127.0.0.1:1', () => 'a@example.com').send('to@example.com', MESSAGE),
  );
  expect(words).toBe("The mail server can't be reached. The server's log has the details.");
});

test('a notice waits for a slow mail server, and a user does not', async () => {
  const acknowledge: (() => void)[] = [];
  const mailbox = await openMailbox({
    onData(stream, _session, done) {
      stream.resume().on('end', () => acknowledge.push(done));
    },
  });
  closing.push(mailbox.close);
  const mailer = createMailer(mailbox.url, () => 'a@example.com', { user: 100, notice: 60_000 });
  const notice = mailer.send('to@example.com', MESSAGE, 'id');
  await expect.poll(() => acknowledge.length).toBe(1);
  expect(await wordsOf(mailer.send('to@example.com', MESSAGE))).toContain("can't be reached");
  for (const done of acknowledge) done();
  await expect(notice).resolves.toBeUndefined();
});

test.each([
  ['PLAIN', 'AUTH PLAIN …'],
  ['LOGIN', '…'],
])('a rejection that repeats the command AUTH %s is reported without the password', async (method, said) => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write('220 mail.example\r\n');
    const answers = [`250-mail.example\r\n250 AUTH ${method}`];
    // Asks for the user and the password.
    if (method === 'LOGIN') answers.push('334 VXNlcm5hbWU6', '334 UGFzc3dvcmQ6');
    socket.on('data', (bytes) => {
      const repeated = `500 5.5.1 Command unrecognized: "${String(bytes).trim()}"`;
      socket.write(`${answers.shift() ?? repeated}\r\n`);
    });
  });
  const port = await listenLocally(server);
  closing.push(async () => void server.close());
  const mailer = createMailer(`smtp://user:pass%20word@127.0.0.1:${port}`, () => 'from@example.com');
  expect(await wordsOf(mailer.send('to@example.com', MESSAGE))).toBe(`500 5.5.1 Command unrecognized: "${said}"`);
});

test('a server on another machine gets the password over TLS or not at all', async () => {
  const mailbox = await openMailbox({
    allowInsecureAuth: true,
    onAuth: (_auth, _session, done) => done(null, { user: 'x' }),
  });
  closing.push(mailbox.close);
  const { port } = new URL(mailbox.url);
  const send = (url: string) => createMailer(url, () => 'a@example.com').send('to@example.com', MESSAGE);
  // Not a loopback name, but it leads to this machine.
  const words = await wordsOf(send(`smtp://user:geheim@0.0.0.0:${port}`));
  expect(words).toBe('The mail server does not offer TLS, and without it the password is not sent.');
  await send(`smtp://user:geheim@0.0.0.0:${port}?requireTLS=false`);
  await send(`smtp://user:geheim@127.0.0.1:${port}`);
  expect(mailbox.mails).toHaveLength(2);
});

test('a permanent rejection of one mail is distinguished from one of all mails, and from a temporary one', async () => {
  const refusalBy = async (options: SMTPServerOptions, login = '') => {
    const mailbox = await openMailbox(options);
    closing.push(mailbox.close);
    const mailer = createMailer(mailbox.url.replace('//', `//${login}`), () => 'a@example.com');
    return mailer.send('to@example.com', MESSAGE).catch((error: unknown) => error);
  };
  const rejection = (responseCode: number) => Object.assign(new Error('no'), { responseCode });
  const onRecipient = (code: number): SMTPServerOptions => ({ onRcptTo: (_, __, done) => done(rejection(code)) });
  const onContent = (code: number): SMTPServerOptions => ({
    onData: (stream, _, done) => void stream.resume().on('end', () => done(rejection(code))),
  });
  for (const ofOneMail of [onRecipient, onContent]) {
    expect(await refusalBy(ofOneMail(550))).toMatchObject({ isOfOneMail: true, isPermanent: true });
    expect(await refusalBy(ofOneMail(450))).toMatchObject({ isOfOneMail: true, isPermanent: false });
  }
  const ofSender: SMTPServerOptions = { onMailFrom: (_, __, done) => done(rejection(550)) };
  expect(await refusalBy(ofSender)).toMatchObject({ isOfOneMail: false, isPermanent: false });
  const ofLogin: SMTPServerOptions = {
    allowInsecureAuth: true,
    authOptional: false,
    onAuth: (_, __, done) => done(new Error('no')),
  };
  expect(await refusalBy(ofLogin, 'user:wrong@')).toMatchObject({ isPermanent: false });
  const unreachable = createMailer('smtp://127.0.0.1:1', () => 'a@example.com').send('to@example.com', MESSAGE);
  await expect(unreachable).rejects.toMatchObject({ isPermanent: false });
});
