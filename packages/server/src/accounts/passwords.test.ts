import { expect, test } from 'vitest';
import { Passwords, PasswordsBusy } from './passwords.ts';

const passwords = new Passwords();

test('a hash is Argon2id with the parameters that OWASP asks for, and its own salt', async () => {
  const [one, two] = [await passwords.hash('a password'), await passwords.hash('a password')];
  expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  expect(two).not.toBe(one);
  expect(passwords.isOutdated(one)).toBe(false);
  expect(passwords.isOutdated(one.replace('m=19456', 'm=4096'))).toBe(true);
});

test.each(['пароль', ' spaces ', 'a\u0000b', '🦀🦀🦀', 'x'.repeat(1024)])(
  '%j is right, and what differs at its end is not',
  async (password) => {
    const hash = await passwords.hash(password);
    expect(await passwords.verify(password, hash)).toBe(true);
    expect(await passwords.verify(`${password}x`, hash)).toBe(false);
    expect(await passwords.verify(password.slice(0, -1), hash)).toBe(false);
    expect(await passwords.verify(` ${password}`, hash)).toBe(false);
  },
);

test('without a hash nothing is right, not even what the stand-in hides', async () => {
  for (const password of ['', 'nobody', '\u0000'.repeat(32)]) {
    expect(await passwords.verify(password, undefined)).toBe(false);
    expect(await passwords.verify(password, null)).toBe(false);
  }
});

test('what throws before the work ends the check and frees its slot', async () => {
  const refuse = { before: () => Promise.reject(new Error('refused')), after: () => Promise.resolve() };
  for (let n = 0; n < 20; n += 1) await expect(passwords.verify('x', null, refuse)).rejects.toThrow('refused');
  expect(await passwords.verify('x', await passwords.hash('x'))).toBe(true);
});

test('the queue is bounded: of many at once, those beyond it are turned away and the others are served', async () => {
  const all = await Promise.allSettled(
    Array.from({ length: 700 }, () => passwords.verify('x', '$argon2id$v=19$m=8,t=1,p=1$AAAAAAAAAAA$AAAAAAAAAAA')),
  );
  const turnedAway = all.filter((one) => one.status === 'rejected' && one.reason instanceof PasswordsBusy);
  expect(turnedAway.length).toBeGreaterThanOrEqual(190);
  expect(all.filter((one) => one.status === 'fulfilled')).toHaveLength(700 - turnedAway.length);
});
