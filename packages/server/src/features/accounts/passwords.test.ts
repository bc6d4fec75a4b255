import { expect, test } from 'vitest';
import { HASH_CONCURRENCY, Passwords } from './passwords.ts';
import { CHEAP } from '../../../test/test-server.ts';

const passwords = new Passwords();
const cheap = new Passwords(CHEAP);
const WHO = { owner: 'one' };

test("a hash is Argon2id with OWASP's parameters and its own salt", async () => {
  const [one, two] = [await passwords.hash('a password', WHO), await passwords.hash('a password', WHO)];
  expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  expect(two).not.toBe(one);
  expect(passwords.isOutdated(one)).toBe(false);
  expect(passwords.isOutdated(one.replace('m=19456', 'm=4096'))).toBe(true);
});

test.each(['пароль', ' spaces ', 'a\u0000b', '🦀🦀🦀', 'x'.repeat(1024)])(
  '%j is right, and passwords that differ at an end are not',
  async (password) => {
    const hash = await cheap.hash(password, WHO);
    expect(await cheap.verify(password, hash, WHO)).toBe(true);
    expect(await cheap.verify(`${password}x`, hash, WHO)).toBe(false);
    expect(await cheap.verify(password.slice(0, -1), hash, WHO)).toBe(false);
    expect(await cheap.verify(` ${password}`, hash, WHO)).toBe(false);
  },
);

test('without a hash every password is wrong, including the password of the placeholder hash', async () => {
  for (const password of ['', 'nobody', '\u0000'.repeat(32)]) {
    expect(await cheap.verify(password, undefined, WHO)).toBe(false);
    expect(await cheap.verify(password, null, WHO)).toBe(false);
  }
});

test('without a hash a password is hashed all the same, so that the time reveals no account', async () => {
  let isDone = false;
  const check = cheap.verify('a password', undefined, WHO).then(() => (isDone = true));
  // A hash ends in a later turn of the event loop, however fast it is. Everything else would end in this one.
  for (let nth = 0; nth < 100; nth += 1) await undefined;
  expect(isDone).toBe(false);
  await check;
});

test('an error after waiting ends the check, and the next one runs', async () => {
  const hash = await cheap.hash('x', WHO);
  const refuse = { afterWaiting: () => Promise.reject(new Error('refused')), after: () => Promise.resolve() };
  const checks = Array.from({ length: 20 }, () => cheap.verify('x', hash, WHO, refuse));
  const refused = (await Promise.allSettled(checks)).filter((check) => check.status === 'rejected');
  expect(refused).toHaveLength(20 - HASH_CONCURRENCY);
  expect(await cheap.verify('x', hash, WHO)).toBe(true);
});
