import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { problemSchema } from '@creel/contract';
import { openRaw } from '../../../../../fixtures/raw-http.ts';
import { openSqliteStore } from '../../database/sqlite/sqlite-store.ts';
import { QUERIES } from '../../queries.ts';
import type { AppStore } from '../../queries.ts';
import { openLive } from '../../../test/live-viewer.ts';
import { upgradeRaw } from '../../../test/raw-upgrade.ts';
import type { RawUpgrade, UpgradeLines } from '../../../test/raw-upgrade.ts';
import { startTestServer } from '../../../test/test-server.ts';
import type { TestOwner, TestServer } from '../../../test/test-server.ts';

/** Who may open a live connection: the owner, logged in, from our own origin (docs/api.md, "Live"). */
const server = await startTestServer({ settings: { DEFAULT_TIER: 'PREMIUM' } });
const owner = await server.registerOwner();
afterAll(() => server.stop());

/** A rejection is a problem, and its connection ends. */
async function expectRefusal({ answer, connection }: RawUpgrade): Promise<void> {
  expect(answer.header('content-type')).toBe('application/json; charset=utf-8');
  expect(problemSchema.safeParse(JSON.parse(answer.body.toString('utf8'))).success).toBe(true);
  expect((await connection.closed()).toString('latin1')).toBe('');
}

async function statusOf(to: TestServer, path: string, lines: UpgradeLines): Promise<number> {
  const upgraded = await upgradeRaw(to.port, path, lines);
  if (upgraded.answer.status !== 101) await expectRefusal(upgraded);
  upgraded.connection.close();
  return upgraded.answer.status;
}

const cookie = (): string => owner.client.jar.header();
const path = (): string => `/ws?endpoint=${owner.uid}`;

describe('Origin, on plain http', () => {
  const own = (): string => `127.0.0.1:${server.port}`;
  test.each<[string, number, () => Record<string, string>]>([
    ['absent', 101, () => ({})],
    ['our own', 101, () => ({ Origin: `http://${own()}` })],
    [
      'our own under another name of this machine',
      101,
      () => ({ Origin: `http://localhost:${server.port}`, Host: `localhost:${server.port}` }),
    ],
    ['null', 403, () => ({ Origin: 'null' })],
    ['empty', 403, () => ({ Origin: '' })],
    ['another site', 403, () => ({ Origin: 'https://evil.example' })],
    ['another scheme', 403, () => ({ Origin: `https://${own()}` })],
    ['another port', 403, () => ({ Origin: `http://127.0.0.1:${server.port - 1}` })],
    ['no port', 403, () => ({ Origin: 'http://127.0.0.1' })],
    ['another name than in Host', 403, () => ({ Origin: `http://localhost:${server.port}` })],
    ['ours as the beginning', 403, () => ({ Origin: `http://${own()}.evil.example` })],
    ['upper case', 403, () => ({ Origin: `HTTP://${own()}` })],
    ['with a slash', 403, () => ({ Origin: `http://${own()}/` })],
    ['cross-site by Sec-Fetch-Site', 403, () => ({ 'Sec-Fetch-Site': 'cross-site' })],
    ['same-site by Sec-Fetch-Site', 403, () => ({ 'Sec-Fetch-Site': 'same-site' })],
    ['same-origin by Sec-Fetch-Site', 101, () => ({ Origin: `http://${own()}`, 'Sec-Fetch-Site': 'same-origin' })],
  ])('%s: %d', async (_what, status, headers) => {
    expect(await statusOf(server, path(), { cookie: cookie(), headers: headers() })).toBe(status);
  });
});

describe('Origin, behind https', () => {
  let behind: TestServer;
  let lines: { cookie: string };
  let behindPath: string;
  beforeAll(async () => {
    behind = await startTestServer({ settings: { PUBLIC_URL: 'https://ours.example' } });
    const { client, uid } = await behind.registerOwner();
    lines = { cookie: client.jar.header() };
    behindPath = `/ws?endpoint=${uid}`;
  });
  afterAll(() => behind.stop());

  test.each([
    ['https://ours.example', 101],
    [undefined, 101],
    ['null', 403],
    ['http://ours.example', 403],
    ['https://ours.example:8443', 403],
    ['https://ours.evil.com', 403],
    ['https://evilours.example', 403],
    ['https://ours.example.evil.com', 403],
    ['https://sub.ours.example', 403],
    ['https://OURS.example', 403],
    ['https://ours.example@evil.com', 403],
  ])('%s: %d', async (origin, status) => {
    expect(
      await statusOf(behind, behindPath, {
        ...lines,
        ...(origin === undefined ? {} : { headers: { Origin: origin } }),
      }),
    ).toBe(status);
  });

  test('the name that a proxy uses for us is not our origin', async () => {
    const headers = { Origin: `http://127.0.0.1:${behind.port}` };
    expect(await statusOf(behind, behindPath, { ...lines, headers })).toBe(403);
  });
});

describe('authorization', () => {
  test('not logged in: 401, whether or not the endpoint exists', async () => {
    expect(await statusOf(server, path(), {})).toBe(401);
    expect(await statusOf(server, '/ws?endpoint=nothing', {})).toBe(401);
    expect(await statusOf(server, path(), { cookie: 'creel_session=made-up' })).toBe(401);
  });

  test("another user's endpoint and an unknown one get the same response", async () => {
    const stranger = (await server.register()).client.jar.header();
    const foreign = await upgradeRaw(server.port, path(), { cookie: stranger });
    const unknown = await upgradeRaw(server.port, '/ws?endpoint=AAAAAAAAAAAAAAAAAAAAAA', { cookie: stranger });
    // A second may end between the two answers.
    const lasting = ({ answer }: typeof foreign) => answer.headers.filter(([name]) => name !== 'Date');
    expect(foreign.answer.status).toBe(404);
    expect(lasting(foreign)).toEqual(lasting(unknown));
    expect(foreign.answer.body.equals(unknown.answer.body)).toBe(true);
    expect(foreign.answer.body.toString('utf8')).toContain('ENDPOINT_NOT_FOUND');
  });

  test.each([
    ['none', () => '/ws'],
    ['an empty one', () => '/ws?endpoint='],
    ['another name for it', () => `/ws?uid=${owner.uid}`],
    ['something behind it', () => `/ws?endpoint=${owner.uid}%20`],
    ['a second question mark', () => `/ws?endpoint=${owner.uid}?`],
    ['only its beginning', () => `/ws?endpoint=${owner.uid.slice(0, -1)}`],
    [
      'other case',
      () => `/ws?endpoint=${owner.uid.toLowerCase() === owner.uid ? owner.uid.toUpperCase() : owner.uid.toLowerCase()}`,
    ],
  ])('an endpoint is named exactly (%s): 404', async (_what, target) => {
    expect(await statusOf(server, target(), { cookie: cookie() })).toBe(404);
  });
});

describe('a socket is closed at once, long before the next ping', () => {
  /** Opens a view, performs the action, and returns the close code. */
  async function closing({ client, uid }: TestOwner, act: () => Promise<unknown>) {
    const viewer = await openLive(client, uid);
    await viewer.until((messages) => messages.length > 0);
    await act();
    return viewer.closed;
  }

  test('logged out: 4401', async () => {
    const person = await server.registerOwner();
    expect(await closing(person, () => person.client.call('logout', {}))).toBe(4401);
  });

  test('password changed elsewhere: 4401; the session that changed it stays open', async () => {
    const person = await server.registerOwner();
    const elsewhere = server.visitor();
    await elsewhere.call('login', { body: { username: person.user.username, password: person.password } });
    await using own = await openLive(elsewhere, person.uid);
    const body = {
      currentPassword: person.password,
      newPassword: 'another good one',
      confirmPassword: 'another good one',
    };
    expect(await closing(person, () => elsewhere.call('changePassword', { body }))).toBe(4401);
    await elsewhere.call('changeEndpoint', { params: { uid: person.uid }, body: { name: 'still here' } });
    await own.until((messages) => messages.some((message) => message.type === 'endpoint'));
  });

  test('endpoint deleted: 4404; others stay open', async () => {
    const person = await server.registerOwner();
    await using other = await openLive(person.client, (await person.client.call('createEndpoint', { body: {} })).uid);
    expect(await closing(person, () => person.client.call('deleteEndpoint', { params: { uid: person.uid } }))).toBe(
      4404,
    );
    expect(other.socket.readyState).toBe(other.socket.OPEN);
  });

  test('a viewer that does not answer the close is cut off', async () => {
    const person = await server.registerOwner();
    const { connection } = await upgradeRaw(server.port, `/ws?endpoint=${person.uid}`, {
      cookie: person.client.jar.header(),
    });
    await person.client.call('logout', {});
    // Waits for less than the half minute that ws itself gives a client.
    await expect(connection.closed()).resolves.toBeInstanceOf(Buffer);
  });
});

describe('every ping checks again', () => {
  let pinging: TestServer;
  beforeAll(async () => {
    pinging = await startTestServer({ livePingMs: 1000 });
  });
  afterAll(() => pinging.stop());

  async function watching() {
    const { client, uid } = await pinging.registerOwner();
    const viewer = await openLive(client, uid);
    await viewer.until((messages) => messages.length > 0);
    return { viewer, uid };
  }

  test('an endpoint that another process deleted: 4404', async () => {
    const { viewer, uid } = await watching();
    const { id = 0 } = (await pinging.store.findEndpoint(uid)) ?? {};
    await pinging.store.deleteEndpoint(id);
    expect(await viewer.closed).toBe(4404);
  });

  test('a session that expired: 4401', async () => {
    const { viewer } = await watching();
    pinging.clock.advance(31 * 24 * 3_600_000);
    expect(await viewer.closed).toBe(4401);
  });
});

describe("changes during the upgrade's checks are detected when the socket is open", () => {
  /** A server whose endpoint lookup can be delayed. */
  async function startHolding() {
    const gate = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    let held: string | undefined;
    const holding = await startTestServer({
      openStore: async (dataDir) => {
        const store = await openSqliteStore(dataDir, QUERIES);
        const findEndpoint: AppStore['findEndpoint'] = async (wanted) => {
          const found = await store.findEndpoint(wanted);
          if (wanted !== held) return found;
          held = undefined;
          reached.resolve();
          await gate.promise;
          return found;
        };
        return { ...store, findEndpoint };
      },
    });
    const person = await holding.registerOwner();
    const open = async () => {
      held = person.uid;
      const viewer = openLive(person.client, person.uid);
      await reached.promise;
      return viewer;
    };
    return { holding, person, open, reached: reached.promise, release: () => gate.resolve() };
  }

  test.each([
    ['the session: 4401', 4401, (person: TestOwner) => person.client.call('logout', {})],
    ['the endpoint: 4404', 4404, ({ client, uid }: TestOwner) => client.call('deleteEndpoint', { params: { uid } })],
  ] as const)('%s', async (_what, code, end) => {
    const { holding, person, open, reached, release } = await startHolding();
    const opening = open();
    await reached;
    await end(person);
    release();
    expect(await (await opening).closed).toBe(code);
    await holding.stop();
  });
});

describe('invalid upgrades', () => {
  test.each([
    ['no key', { 'Sec-WebSocket-Key': '' }],
    ['a key of the wrong length', { 'Sec-WebSocket-Key': 'c2hvcnQ=' }],
    ['an old version', { 'Sec-WebSocket-Version': '7' }],
  ])('%s: 400', async (_what, headers) => {
    expect(await statusOf(server, path(), { cookie: cookie(), headers })).toBe(400);
  });

  test('another method than GET: 400', async () => {
    expect(await statusOf(server, path(), { cookie: cookie(), method: 'POST' })).toBe(400);
  });

  test.each(['h2c', 'foo', 'TLS/1.0', 'websocketx'])(
    'Upgrade: %s on /ws is an ordinary request: 426',
    async (upgrade) => {
      const { answer, connection } = await upgradeRaw(server.port, path(), {
        cookie: cookie(),
        headers: { Upgrade: upgrade },
      });
      expect(answer.status).toBe(426);
      expect(answer.header('upgrade')).toBe('websocket');
      connection.close();
    },
  );

  test('a GET without an upgrade: 426', async () => {
    const { status, body } = await owner.client.answerTo(path());
    expect({ status, body }).toMatchObject({ status: 426, body: { code: 'UPGRADE_REQUIRED' } });
  });

  test('Upgrade: WebSocket is valid in any case, and not in a list', async () => {
    expect(await statusOf(server, path(), { cookie: cookie(), headers: { Upgrade: 'WebSocket' } })).toBe(101);
    expect(await statusOf(server, path(), { cookie: cookie(), headers: { Upgrade: 'h2c, websocket' } })).toBe(400);
  });

  test.each(['/', '/wsx', '/ws/', '/api/user', '/api/nothing'])(
    '%s does not upgrade for any caller',
    async (target) => {
      const { answer, connection } = await upgradeRaw(server.port, target, { cookie: cookie() });
      expect(answer.status).not.toBe(101);
      expect(answer.status).toBeLessThan(500);
      connection.close();
    },
  );

  test('two Hosts, or none: 400', async () => {
    const two = await upgradeRaw(server.port, path(), {
      cookie: cookie(),
      headers: { 'X-Filler': 'x\r\nHost: other' },
    });
    expect(two.answer.status).toBe(400);
    two.connection.close();
    const none = await openRaw({ port: server.port });
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13';
    const key = `Sec-WebSocket-Key: ${'A'.repeat(22)}==`;
    await none.send(`GET ${path()} HTTP/1.1\r\n${upgrade}\r\n${key}\r\nCookie: ${cookie()}\r\n\r\n`);
    expect((await none.next()).status).toBe(400);
    none.close();
  });

  test('a client that hangs up during the checks has no effect', async () => {
    for (let round = 0; round < 20; round += 1) {
      const connection = await openRaw({ port: server.port });
      await connection.send(
        `GET ${path()} HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nCookie: ${cookie()}\r\n\r\n`,
      );
      connection.reset();
    }
    expect((await owner.client.answerTo('/healthz')).status).toBe(200);
  });
});
