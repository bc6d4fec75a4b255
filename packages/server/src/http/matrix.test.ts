import { afterAll, describe, expect, test } from 'vitest';
import { OPERATIONS, fillPath } from '@creel/contract';
import type { AnyInput, Operation, OperationName } from '@creel/contract';
import { databaseSum } from '../../test/database-sum.ts';
import { hasOwnVerdict, verdictOf } from '../../test/matrix-verdicts.ts';
import type { Things, Verdict } from '../../test/matrix-verdicts.ts';
import { expectSecure, plainCall, plainUpgrade } from '../../test/plain-call.ts';
import type { PlainAnswer } from '../../test/plain-call.ts';
import { standingClock, startTestServer } from '../../test/test-server.ts';
import type { TestPerson } from '../../test/test-server.ts';

/**
 * Every operation of the contract, and the live connection, against all unauthorized callers: without a session, with
 * another user's, with unknown ids, from another origin. Generated from the contract, so that new operations are
 * included.
 */
interface Owner {
  readonly person: TestPerson;
  readonly things: Things;
  readonly cookie: string;
}

/** Number of checked calls, printed at the end. */
let judged = 0;

/** An endpoint with a saved and an unsaved request. */
async function settle(): Promise<Owner> {
  const person = await server.register();
  const { client } = person;
  const { uid } = await client.call('createEndpoint', { body: {} });
  for (const body of ['saved secret', 'unsaved secret']) await client.send(`/h/${uid}`, { method: 'POST', body });
  const saved = await client.call('saveRequest', { params: { uid }, body: { index: 0 } });
  const [unsaved] = await client.call('listUnsaved', { params: { uid } });
  if (unsaved === undefined) throw new Error('The second capture is missing.');
  // Off, so that nothing is sent.
  const off = { url: 'http://127.0.0.1:9/', enabled: false };
  const destination = await client.call('createDestination', { params: { uid }, body: off });
  const plan = { tier: 'BASIC', interval: 'monthly', returnUrl: '/' } as const;
  const checkout = await client.call('createCheckout', { body: plan });
  const things = {
    uid,
    savedId: saved.id,
    unsavedId: unsaved.id,
    unsavedIndex: unsaved.index,
    destinationId: destination.id,
    checkoutId: checkout.url.replace(/.*\//, ''),
  };
  return { person, things, cookie: client.jar.header() };
}

const settings = { DEFAULT_TIER: 'BASIC', BILLING: 'test', SIGNUPS_PER_HOUR: '1000' };
// A session whose user is seen after minutes is written again.
const server = await startTestServer({ settings, clock: standingClock() });
const owner = await settle();
const stranger = await settle();
afterAll(async () => {
  process.stdout.write(
    `The matrix: ${Object.keys(OPERATIONS).length} operations and the socket, ${judged} calls judged.\n`,
  );
  await server.stop();
});

const NAMES = (Object.keys(OPERATIONS) as OperationName[]).toSorted();
const ROWS = NAMES.map((name): [OperationName, Operation, Verdict] => [name, OPERATIONS[name], verdictOf(name)]);
const USER_ROWS = ROWS.filter(([, operation]) => operation.access !== 'public');
const ENDPOINT_ROWS = ROWS.filter(([, { path }]) => path.includes('{uid}'));
const ID_ROWS = ENDPOINT_ROWS.filter(([, { path }]) => path.includes('{id}'));
const UNSAFE_ROWS = ROWS.filter(([, { method }]) => method !== 'GET');
const NOBODYS_UID = 'AAAAAAAAAAAAAAAAAAAAAA';

interface Change {
  readonly cookie?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly body?: string;
}

async function call({ method, path }: Operation, input: AnyInput, change: Change = {}): Promise<PlainAnswer> {
  const query = new URLSearchParams(Object.entries(input.query ?? {}).map(([key, value]) => [key, String(value)]));
  const body = change.body ?? (input.body === undefined ? undefined : JSON.stringify(input.body));
  const answer = await plainCall(server.port, {
    method: change.method ?? method,
    path: `${fillPath(path, input.params ?? {})}${query.size === 0 ? '' : `?${query.toString()}`}`,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(change.cookie === undefined ? {} : { cookie: change.cookie }),
      ...change.headers,
    },
    body,
  });
  judged += 1;
  expectSecure(answer);
  return answer;
}

/** `act` changes nothing that is stored. */
async function expectUnchanged(act: () => Promise<void>, notes: readonly string[] = []): Promise<void> {
  const before = await databaseSum(server.dataDir, notes);
  await act();
  expect(await databaseSum(server.dataDir, notes)).toBe(before);
}

const codeOf = ({ text }: PlainAnswer): unknown => {
  const body: unknown = JSON.parse(text);
  return typeof body === 'object' && body !== null && 'code' in body ? body.code : undefined;
};
const told = (answer: PlainAnswer) => ({
  status: answer.status,
  text: answer.text,
  headers: Object.keys(answer.headers).toSorted(),
});

test('every operation with input has a verdict of its own', () => {
  const withInput = NAMES.filter((name) => {
    const { body, path }: Operation = OPERATIONS[name];
    return body !== undefined || /\{(?!uid\}|id\})/.test(path);
  });
  expect(withInput.filter((name) => !hasOwnVerdict(name))).toEqual([]);
});

describe('without a session', () => {
  test.each(ROWS)('%s', async (_, operation, verdict) => {
    const input = verdict.call(owner.things);
    const expected = verdict.visitor ?? 401;
    await expectUnchanged(async () => {
      for (const cookie of [
        undefined,
        'creel_session=x',
        `creel_session=${'A'.repeat(43)}`,
        'creel_session=',
        '__Host-creel_session=x',
      ]) {
        const answer = await call(operation, input, { cookie });
        expect(answer.status).toBe(expected);
        expect(operation.access === 'public' || codeOf(answer) === 'NOT_SIGNED_IN').toBe(true);
      }
    }, verdict.notes);
  });
});

describe('without a session nothing reveals what would have been valid', () => {
  test.each(USER_ROWS)('%s', async (_, operation, verdict) => {
    const { body } = operation;
    const broken = { body: '{"broken', headers: { 'content-type': 'text/plain' } };
    const answer = await call(operation, verdict.call(owner.things), body === undefined ? {} : broken);
    expect([answer.status, codeOf(answer)]).toEqual([401, 'NOT_SIGNED_IN']);
  });
});

describe("with another user's session", () => {
  test.each(ENDPOINT_ROWS)(
    '%s: their endpoint is answered like a missing one, before all other checks',
    async (_, operation, verdict) => {
      const gone = await stranger.person.client.call('createEndpoint', { body: {} });
      await stranger.person.client.call('deleteEndpoint', { params: { uid: gone.uid } });
      // Deleted requests are purged in the background.
      await expect.poll(() => server.store.purgeSome(100)).toBe(false);
      const { cookie } = stranger;
      await expectUnchanged(async () => {
        const theirs = verdict.call(owner.things);
        const random = verdict.call({ ...owner.things, uid: NOBODYS_UID });
        const deleted = verdict.call({ ...owner.things, uid: gone.uid });
        const answer = await call(operation, theirs, { cookie });
        expect([answer.status, codeOf(answer)]).toEqual([404, 'ENDPOINT_NOT_FOUND']);
        expect(told(await call(operation, random, { cookie }))).toEqual(told(answer));
        expect(told(await call(operation, deleted, { cookie }))).toEqual(told(answer));
        const junk = { cookie, body: '{"broken', headers: { 'content-type': 'text/plain' } };
        expect(told(await call(operation, theirs, operation.method === 'GET' ? { cookie } : junk))).toEqual(
          told(answer),
        );
        expect(
          told(await call(operation, { ...theirs, query: { limit: 'nonsense', before: '-' } }, { cookie })),
        ).toEqual(told(answer));
      });
    },
  );

  test.each(ID_ROWS)('%s: their resource is not found in my endpoint', async (_, operation, verdict) => {
    const { cookie, things } = stranger;
    const isDestination = operation.path.includes('/destinations/');
    const theirs = isDestination ? owner.things.destinationId : owner.things.savedId;
    const code = isDestination ? 'DESTINATION_NOT_FOUND' : 'REQUEST_NOT_FOUND';
    await expectUnchanged(async () => {
      const mine = verdict.call(things);
      const at = (id: string | number): AnyInput => ({ ...mine, params: { ...mine.params, id } });
      const answer = await call(operation, at(theirs), { cookie });
      expect([answer.status, codeOf(answer)]).toEqual([404, code]);
      for (const id of [999_999_999, -1_999_999, 0, -1, 'x', '1e3', '0x1', '%00', '9'.repeat(30)]) {
        expect(told(await call(operation, at(id), { cookie }))).toEqual(told(answer));
      }
    });
  });

  test.each(ROWS.filter(([, , verdict]) => verdict.foreign !== undefined))(
    '%s: nor if the body names it',
    async (_, operation, verdict) => {
      const { cookie } = stranger;
      const name = verdict.foreign ?? verdict.call;
      await expectUnchanged(async () => {
        const theirs = await call(operation, name(owner.things), { cookie });
        const random = await call(operation, name({ ...owner.things, uid: NOBODYS_UID }), { cookie });
        expect(theirs.status).toBe(404);
        expect(told(theirs)).toEqual(told(random));
      });
    },
  );

  test('search finds nothing of theirs, with any cursor', async () => {
    const { cookie } = stranger;
    for (const before of ['', '9999999999999-999999-99']) {
      const answer = await call(OPERATIONS.search, { query: { q: 'secret', ...(before && { before }) } }, { cookie });
      expect(answer.status).toBe(200);
      expect(answer.text).not.toContain(owner.things.uid);
    }
    expect((await call(OPERATIONS.search, { query: { q: 'secret' } }, { cookie: owner.cookie })).text).toContain(
      owner.things.uid,
    );
  });
});

describe('from another origin', () => {
  test.each(UNSAFE_ROWS)('%s', async (_, operation, verdict) => {
    const other = String(server.port + 1);
    const origins = [
      'https://evil.test',
      'null',
      `${server.origin}.evil.test`,
      `http://evil.test:${server.port}`,
      `http://127.0.0.1.evil.test:${server.port}`,
      `http://127.0.0.1@evil.test:${server.port}`,
      `http://localhost:${server.port}`,
      server.origin.replace('http:', 'https:'),
      server.origin.replace(String(server.port), other),
      server.origin.toUpperCase(),
      '',
    ];
    const attempts: Record<string, string>[] = [
      ...origins.map((origin) => ({ origin })),
      ...origins.map((origin) => ({ origin, 'sec-fetch-site': 'same-origin' })),
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site', origin: server.origin },
      { 'sec-fetch-site': 'SAME-ORIGIN' },
      // DNS rebinding: the browser considers its pages to be of our origin.
      { host: `evil.test:${server.port}`, origin: `http://evil.test:${server.port}`, 'sec-fetch-site': 'same-origin' },
    ];
    await expectUnchanged(async () => {
      for (const headers of attempts) {
        const answer = await call(operation, verdict.call(owner.things), { cookie: owner.cookie, headers });
        const isRefused = answer.status === 403 && codeOf(answer) === 'CROSS_ORIGIN';
        // Calls that need a signature are rejected without one.
        expect([headers, isRefused || (verdict.trusts === 'signature' && answer.status >= 400)]).toEqual([
          headers,
          true,
        ]);
      }
    });
  });

  test.each(UNSAFE_ROWS.filter(([, operation]) => operation.body !== undefined))(
    '%s: as a form would send it',
    async (_, operation, verdict) => {
      await expectUnchanged(async () => {
        for (const type of [
          'text/plain',
          'application/x-www-form-urlencoded',
          'multipart/form-data; boundary=x',
          'application/jsonp',
        ]) {
          const answer = await call(operation, verdict.call(owner.things), {
            cookie: owner.cookie,
            headers: { 'content-type': type },
          });
          expect([type, answer.status]).toEqual([type, 415]);
        }
      });
    },
  );

  test.each(ROWS)(
    '%s: reading changes nothing, nor does a method that is only claimed',
    async (_, operation, verdict) => {
      const { cookie, things } = owner;
      await expectUnchanged(async () => {
        for (const method of ['GET', 'HEAD', 'OPTIONS']) {
          const claims = {
            'x-http-method-override': operation.method,
            'x-method-override': operation.method,
            'x-http-method': operation.method,
          };
          const input = {
            ...verdict.call(things),
            query: { ...verdict.call(things).query, _method: operation.method },
          };
          const answer = await call(operation, input, {
            cookie,
            method,
            headers: { ...claims, origin: 'https://evil.test' },
          });
          const read = ROWS.find(([, other]) => other.path === operation.path && other.method === 'GET');
          const isRead = method !== 'OPTIONS' && read !== undefined;
          const isTold = answer.status === 405 && String(answer.headers['allow']).includes(operation.method);
          expect([method, isRead ? answer.status === (read[2].owner ?? 200) : isTold]).toEqual([method, true]);
        }
      }, verdict.notes);
    },
  );
});

describe('the live connection', () => {
  const open = async (uid: string, headers: Record<string, string>): Promise<PlainAnswer> => {
    judged += 1;
    return plainUpgrade(server.port, `/ws?endpoint=${uid}`, headers);
  };

  test('opens for the owner only', async () => {
    const { uid } = owner.things;
    expect((await open(uid, { cookie: owner.cookie })).status).toBe(101);
    expect((await open(uid, { cookie: owner.cookie, origin: server.origin })).status).toBe(101);
    for (const cookie of ['', 'creel_session=x', `creel_session=${'A'.repeat(43)}`])
      expect((await open(uid, { cookie })).status).toBe(401);
    const theirs = await open(uid, { cookie: stranger.cookie });
    expect([theirs.status, codeOf(theirs)]).toEqual([404, 'ENDPOINT_NOT_FOUND']);
    for (const nobodys of [NOBODYS_UID, '', 'x', '%00', uid.toLowerCase(), `${uid}%20`]) {
      expect(told(await open(nobodys, { cookie: stranger.cookie }))).toEqual(told(theirs));
    }
  });

  test('opens from no other origin', async () => {
    const { uid } = owner.things;
    const attempts: Record<string, string>[] = [
      { origin: 'https://evil.test' },
      { origin: 'null' },
      { origin: `${server.origin}.evil.test` },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site', origin: server.origin },
      { host: 'evil.test', origin: 'http://evil.test' },
    ];
    for (const headers of attempts) {
      const answer = await open(uid, { cookie: owner.cookie, ...headers });
      expect([headers, answer.status, codeOf(answer)]).toEqual([headers, 403, 'CROSS_ORIGIN']);
    }
  });
});

describe('unknown fields', () => {
  const bodies = USER_ROWS.filter(([, { body, path }]) => body !== undefined && !path.includes('{id}'));
  test.each(bodies)('%s ignores them', async (_, operation, verdict) => {
    const victim = await settle();
    const caller = await settle();
    const { user } = victim.person;
    const wishes = {
      id: user.id,
      userId: user.id,
      user_id: user.id,
      uid: 'chosen',
      username_key: 'x',
      role: 'admin',
      isAdmin: true,
      plan: 'PREMIUM',
      subscriptionTier: 'PREMIUM',
      subscription_tier: 'PREMIUM',
      subscriptionStatus: 'active',
      subscriptionEndDate: '2999-01-01T00:00:00.000Z',
      stripeCustomerId: 'cus_x',
      emailVerified: true,
      passwordHash: 'x',
      expiresAt: null,
      createdAt: '2000-01-01T00:00:00.000Z',
      requestCount: 1_000_000,
      __proto__: { subscriptionTier: 'PREMIUM' },
    };
    const kept = async ({ person, things }: Owner) => ({
      user: await server.store.findUser(person.user.id),
      endpoint: await server.store.findEndpoint(things.uid),
      endpoints: await server.store.listEndpoints(person.user.id),
    });
    const [victims, before] = [await kept(victim), await kept(caller)];
    const input = verdict.call(caller.things);
    const own = typeof input.body === 'object' ? input.body : {};
    const answer = await call(operation, { ...input, body: { ...wishes, ...own } }, { cookie: caller.cookie });
    expect(answer.status).not.toBe(500);
    expect(await kept(victim)).toEqual(victims);
    const after = await kept(caller);
    const allowed = Object.fromEntries((verdict.changes ?? []).map((field) => [field, after.user?.[field]]));
    expect(after.user).toEqual({ ...before.user, ...allowed });
    for (const endpoint of after.endpoints) {
      expect(endpoint).toMatchObject({
        userId: caller.person.user.id,
        isFavorite: false,
        expiresAt: expect.any(Number),
      });
      expect(endpoint.uid).toMatch(/^[\w-]{22}$/);
    }
  });
});
