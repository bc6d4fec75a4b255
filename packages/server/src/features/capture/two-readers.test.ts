import { afterAll, expect, test } from 'vitest';
import { openRaw } from '../../../../../fixtures/raw-http.ts';
import type { RawAnswer, RawConnection } from '../../../../../fixtures/raw-http.ts';
import { metricOf } from '../../../test/metric.ts';
import { expectKept, expectUnharmed, indexOf, startWireApp } from '../../../test/wire-app.ts';

/**
 * A plain request is read without Node's parser (docs/decisions/0014-plain-requests.md), without a visible difference.
 */
const app = await startWireApp({ TRUST_PROXY: '127.0.0.1' });
afterAll(() => app.server.stop());

const HEADERS: [string, string][] = [
  ['hOsT', 'h'],
  ['X-Twice', '1'],
  ['x-twice', '2'],
  ['X-Bytes', 'gr\xfc\xdfe'],
  ['X-Empty', ''],
  ['X-Forwarded-For', '203.0.113.9'],
  ['Content-Length', '8'],
];
const request = (rest: string, body: string, headers = HEADERS): string =>
  `POST ${app.base}${rest} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;

/** A connection that the server has accepted. It answers calls of others before it accepts the next connection. */
async function openAccepted(): Promise<RawConnection> {
  const connection = await openRaw({ port: app.server.port });
  await connection.send('GET /h/nobody HTTP/1.1\r\nHost: h\r\n\r\n');
  expect((await connection.final()).status).toBe(404);
  return connection;
}

/** Sends the rest after the server has answered a later call, so that no read has the whole request. */
async function sendInParts(connection: RawConnection, bytes: string, at: number): Promise<void> {
  await connection.send(bytes.slice(0, at));
  await reads();
  await connection.send(bytes.slice(at));
}

/** How many captures each reader has read. */
const reads = () =>
  Promise.all(
    ['plain', 'parser'].map((reader) => metricOf(app.server.origin, `creel_captures_read_total{reader="${reader}"}`)),
  );

/** The parts of a response that must be equal. */
const shape = ({ status, statusText, headers, body }: RawAnswer) => ({
  status,
  statusText,
  headers: headers.map(([name, value]) => [name, /^(?:date|x-creel-request)$/i.test(name) ? '' : value]),
  body: body.toString(),
});

test('both store and respond the same', async () => {
  const [plain, parsed] = [await openAccepted(), await openAccepted()];
  const bytes = request('/a%2Fb?c=d', '\0\xff\r\n\r\nab');
  const [byPlain = 0, byParser = 0] = await reads();
  await plain.send(bytes);
  await sendInParts(parsed, bytes, 70);
  const answers = [await plain.final(), await parsed.final()];
  const [first, second] = answers.map(shape);
  expect(first).toEqual(second);
  expect(await reads()).toEqual([byPlain + 1, byParser + 1]);
  for (const answer of answers) {
    const index = indexOf(answer);
    const body = Buffer.from('\0\xff\r\n\r\nab', 'latin1');
    await expectKept(app, index, { method: 'POST', path: '/a%2Fb', rawHeaders: HEADERS, body });
    expect((await app.owner.captured(app.endpoint.uid, index)).sourceIp).toBe('203.0.113.9');
  }
  plain.close();
  parsed.close();
});

test('both mark the last response of a connection', async () => {
  const [byPlain = 0, byParser = 0] = await reads();
  const closing = HEADERS.map(([name, value]): [string, string] => [
    name === 'X-Empty' ? 'Connection' : name,
    value || 'close',
  ]);
  const ends = await Promise.all(
    [1000, 40].map(async (at) => {
      const connection = await openAccepted();
      await sendInParts(connection, request('', '12345678', closing), at);
      const answer = shape(await connection.final());
      expect(await connection.closed()).toHaveLength(0);
      return answer;
    }),
  );
  expect(ends[0]).toEqual(ends[1]);
  expect(await reads()).toEqual([byPlain + 1, byParser + 1]);
});

test('a connection switches readers with all of its data, and rejects as always', async () => {
  using connection = await openRaw({ port: app.server.port });
  const ask = async (bytes: string): Promise<RawAnswer> => {
    await connection.send(bytes);
    return connection.final();
  };
  const first = indexOf(await ask(request('/1', '12345678')));
  expect(indexOf(await ask(request('/2', '12345678')))).toBe(first + 1);
  const chunked = `POST ${app.base} HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n`;
  expect(indexOf(await ask(chunked))).toBe(first + 2);
  expect(indexOf(await ask(request('/4', '12345678')))).toBe(first + 3);
  expect((await ask('GET /api/user HTTP/1.1\r\nHost: h\r\n\r\n')).status).toBe(401);
  expect((await ask(request('/5', '12345678').replace(app.base, '/h/nobody'))).status).toBe(404);
  expect(indexOf(await ask(request('/6', '12345678')))).toBe(first + 4);
});

test('pipelined requests are answered in order', async () => {
  const connection = await openRaw({ port: app.server.port });
  const before = await app.owner.stored(app.endpoint.uid);
  await connection.send(request('/first', '12345678'));
  for (let sent = 0; sent < 20; sent += 1) await connection.send(request(`/${sent}`, '12345678'));
  const indexes: number[] = [];
  for (let read = 0; read < 21; read += 1) indexes.push(indexOf(await connection.final()));
  expect(indexes).toEqual(indexes.map((_, at) => (indexes[0] ?? 0) + at));
  expect(await app.owner.stored(app.endpoint.uid)).toBe(before + 21);
  connection.close();
  await expectUnharmed(app);
});
