import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { HASH_CONCURRENCY, Passwords } from './passwords.ts';
import { CHEAP, standingClock, startTestServer } from '../../../test/test-server.ts';

const MINUTE = 60_000;
const passwords = new Passwords(CHEAP);
let people = 0;

const server = await startTestServer({ passwords, settings: { TRUST_PROXY: '127.0.0.1' }, clock: standingClock() });
afterAll(() => server.stop());

const someone = () => {
  people += 1;
  return { username: `someone-${people}`, email: `someone-${people}@example.com`, password: 'a good password' };
};
const from = (address: string) => server.visitor({ 'x-forwarded-for': address });
const register = (json: object, client = server.visitor()) =>
  client.answerTo('/api/register', { method: 'POST', json });
const login = (json: object, client = server.visitor()) => client.answerTo('/api/login', { method: 'POST', json });

/** Occupies the queue of password checks until the returned function is called. Checks that still wait then end unchecked. */
function holdChecks(count: number): () => Promise<unknown> {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const waiting = new AbortController();
  const cheap = '$argon2id$v=19$m=2048,t=1,p=1$AAAAAAAAAAA$AAAAAAAAAAA';
  const steps = { afterWaiting: () => Promise.resolve(), after: () => gate };
  const checks = Array.from({ length: count }, (_, nth) =>
    passwords.verify('x', cheap, { owner: `somebody ${nth}`, signal: waiting.signal }, steps).catch(() => false),
  );
  return () => {
    waiting.abort();
    open();
    return Promise.all(checks);
  };
}

describe('password guessing', () => {
  const guess = (username: string, address = '203.0.113.1') =>
    login({ username, password: 'a wrong guess' }, from(address));

  test.each([['a known name'], ['an unknown name']])(
    '%s: ten failures, then 429 with a wait that grows, from any address',
    async (which) => {
      const username =
        which === 'a known name' ? (await server.register()).user.username : `nobody-${which.length}-${Date.now()}`;
      const at = (n: number) => `198.51.100.${n}`;
      for (let n = 0; n < 10; n += 1) expect((await guess(username, at(n))).status).toBe(401);
      const refused = await guess(username.toUpperCase(), at(11));
      expect(refused).toMatchObject({
        status: 429,
        body: { code: 'RATE_LIMITED', error: 'Too many attempts. Please try again in 60 seconds.' },
      });
      expect(refused.headers.get('retry-after')).toBe('60');
      const waits = [];
      for (let n = 0; n < 8; n += 1) {
        const wait = Number((await guess(username, at(20 + n))).headers.get('retry-after'));
        waits.push(Math.ceil(wait / 60));
        server.clock.advance(wait * 1000);
        expect((await guess(username, at(40 + n))).status).toBe(401);
      }
      expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
    },
  );

  test('a blocked guess is not checked: even the right password is rejected, and does not extend the wait', async () => {
    const { user, password } = await server.register();
    for (let n = 0; n < 10; n += 1) await guess(user.username);
    for (let n = 0; n < 5; n += 1) expect((await login({ username: user.username, password })).status).toBe(429);
    server.clock.advance(MINUTE);
    expect((await login({ username: user.username, password })).status).toBe(200);
    expect((await guess(user.username)).status).toBe(401);
  });

  test('a block does not last longer because the clock is set back', async () => {
    const { user, password } = await server.register();
    const ahead = 10 * 60 * MINUTE;
    server.clock.advance(ahead);
    for (let n = 0; n < 10; n += 1) await guess(user.username, '203.0.113.9');
    expect((await login({ username: user.username, password })).status).toBe(429);
    server.clock.advance(-ahead);
    expect((await login({ username: user.username, password })).status).toBe(200);
  });

  test('of a hundred parallel guesses, no more are checked than sequentially, except running ones', async () => {
    const { user } = await server.register();
    const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => guess(user.username, `192.0.2.${n}`)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(88);
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(12);
  });

  test('a correct password resets the count', async () => {
    const { user, password } = await server.register();
    for (let round = 0; round < 2; round += 1) {
      for (let n = 0; n < 9; n += 1) expect((await guess(user.username)).status).toBe(401);
      expect((await login({ username: user.username, password })).status).toBe(200);
    }
  });

  test('blocked attempts neither wait in the queue nor fill it', async () => {
    const { user } = await server.register();
    for (let n = 0; n < 10; n += 1) await guess(user.username);
    const release = holdChecks(1200);
    const [refused, turnedAway] = await Promise.all([guess(user.username), guess(`somebody-else-${user.id}`)]);
    expect([refused.status, turnedAway.status]).toEqual([429, 503]);
    expect(turnedAway).toMatchObject({ body: { code: 'UNAVAILABLE' } });
    expect(turnedAway.headers.get('retry-after')).toBe('5');
    await release();
  });

  test('the right password that waits behind the last allowed guesses is rejected like them', async () => {
    const { user, password } = await server.register();
    const release = holdChecks(HASH_CONCURRENCY);
    const guesses = Array.from({ length: 12 }, () => guess(user.username));
    await expect.poll(() => passwords.waitingCount).toBe(12);
    const right = login({ username: user.username, password }, from('203.0.113.1'));
    await expect.poll(() => passwords.waitingCount).toBe(13);
    await release();
    expect((await right).status).toBe(429);
    await Promise.all(guesses);
  });

  test('parallel guesses on several servers get ten results in total', async () => {
    const { user } = await server.register();
    await using another = await startTestServer({
      openStore: () => Promise.resolve({ ...server.store, close: () => Promise.resolve() }),
      dataDir: server.dataDir,
      clock: server.clock,
      settings: { TRUST_PROXY: '127.0.0.1' },
    });
    const json = { username: user.username, password: 'a wrong guess' };
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, nth) =>
        login(json, (nth % 2 === 0 ? server : another).visitor({ 'x-forwarded-for': `198.51.100.${nth}` })),
      ),
    );
    const told = answers.map(({ status }) => status).toSorted();
    expect(told).toEqual([...Array.from({ length: 10 }, () => 401), ...Array.from({ length: 50 }, () => 429)]);
  });

  test('the owner logs in from a known browser, although others guess elsewhere', async () => {
    const { user, password, client } = await server.register();
    await client.call('logout', {});
    for (let n = 0; n < 11; n += 1) await guess(user.username);
    expect((await guess(user.username)).status).toBe(429);
    expect((await login({ username: user.username, password: 'a slip of the finger' }, client)).status).toBe(401);
    expect((await login({ username: user.username, password }, client)).status).toBe(200);
    expect((await login({ username: user.username, password })).status).toBe(429);
  });

  test("another user's browser, or a changed cookie, gives no access", async () => {
    const { user, password } = await server.register();
    const stranger = await server.register();
    for (let n = 0; n < 10; n += 1) await guess(user.username);
    const cookie = stranger.client.jar.get('creel_browser') ?? '';
    for (const value of [
      cookie,
      cookie.replace(/^\d+/, String(user.id)),
      '',
      'x',
      `${user.id}.9999999999999.x.y`,
      `${user.id}.`,
    ]) {
      const client = server.visitor();
      client.jar.set('creel_browser', value);
      expect((await login({ username: user.username, password }, client)).status).toBe(429);
    }
  });

  test("the owner's known browser is never blocked, after any number of failures", async () => {
    const { user, password, client } = await server.register();
    for (let n = 0; n < 60; n += 1)
      expect((await login({ username: user.username, password: 'a wrong guess' }, client)).status).toBe(401);
    expect((await login({ username: user.username, password }, client)).status).toBe(200);
    expect((await login({ username: user.username, password })).status).toBe(200);
  });

  test('a new password makes every other browser unknown', async () => {
    const other = await server.register();
    const cookie = other.client.jar.get('creel_browser') ?? '';
    const change = {
      currentPassword: other.password,
      newPassword: 'another password',
      confirmPassword: 'another password',
    };
    await other.client.call('changePassword', { body: change });
    for (let n = 0; n < 10; n += 1) await guess(other.user.username);
    const stale = server.visitor();
    stale.jar.set('creel_browser', cookie);
    const now = { username: other.user.username, password: 'another password' };
    expect((await login(now, stale)).status).toBe(429);
    expect((await login(now, other.client)).status).toBe(200);
  });

  test('two users of one browser are both known in it', async () => {
    const one = await server.register();
    const two = someone();
    await register(two, one.client);
    for (const username of [one.user.username, two.username]) for (let n = 0; n < 10; n += 1) await guess(username);
    expect((await login({ username: one.user.username, password: one.password }, one.client)).status).toBe(200);
    expect((await login(two, one.client)).status).toBe(200);
  });

  test('a hundred failures per address and hour, over all names; a correct password neither counts nor resets them', async () => {
    const { user, password } = await server.register();
    const address = '203.0.113.77';
    for (let n = 0; n < 50; n += 1) expect((await guess(`name-${n}`, address)).status).toBe(401);
    expect((await login({ username: user.username, password }, from(address))).status).toBe(200);
    for (let n = 50; n < 100; n += 1) expect((await guess(`name-${n}`, address)).status).toBe(401);
    expect((await guess('one-more', address)).status).toBe(429);
    expect((await login({ username: user.username, password }, from(address))).status).toBe(429);
    expect((await guess('one-more', '203.0.113.78')).status).toBe(401);
    server.clock.advance(60 * MINUTE);
    expect((await login({ username: user.username, password }, from(address))).status).toBe(200);
  });

  test('counts survive a restart', async () => {
    const own = await startTestServer({ clock: standingClock() });
    const { user, password, client } = await own.register();
    for (let n = 0; n < 10; n += 1) await login({ username: user.username, password: 'a wrong guess' }, own.visitor());
    const again = await own.restart();
    onTestFinished(() => again.stop());
    expect((await login({ username: user.username, password }, again.visitor())).status).toBe(429);
    const known = again.visitor();
    known.jar.set('creel_browser', client.jar.get('creel_browser') ?? '');
    expect((await login({ username: user.username, password }, known)).status).toBe(200);
  });
});
