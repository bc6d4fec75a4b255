import type { Endpoint } from '@creel/contract';
import { createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { Stripe } from 'stripe';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { listenLocally } from '../../../../fixtures/listen-locally.ts';
import { startTarget } from '../../../../fixtures/target-server.ts';
import type { Answer, Received, TargetServer } from '../../../../fixtures/target-server.ts';
import { creel, creelLogin, lines, startUntil } from '../../test/creel.ts';
import type { Running } from '../../test/creel.ts';
import { STRIPE_SECRET, startStripeShop } from '../../test/stripe-shop.ts';
import { freePort } from '../../../../fixtures/free-port.ts';
import { readPage } from '../stored-requests.ts';
import { capture, register, startServer, temporaryFolder } from '../../test/server-process.ts';

const folder = await temporaryFolder();
const server = await startServer(join(folder.path, 'data'));
const person = await register(server.origin);
const home = join(folder.path, 'home');
await creelLogin(server.origin, person, home);

afterAll(async () => {
  await server.stop();
  await folder.remove();
});

async function openDestination(answer?: Answer, port?: number): Promise<TargetServer> {
  const destination = await startTarget(port);
  if (answer !== undefined) destination.answerWith(answer);
  onTestFinished(() => destination.close());
  return destination;
}

const newEndpoint = (): Promise<Endpoint> => person.client.call('createEndpoint', { body: {} });

const forward = (uid: string, url: string, ...more: string[]): Promise<Running> =>
  startUntil('Forwarding', ['forward', uid, url, ...more], { home });

test('forwards captures unchanged and prints the results', async () => {
  const { uid, url } = await newEndpoint();
  const destination = await openDestination((response) => response.writeHead(202).end());
  const forwarder = await forward(uid, `${destination.url}/hooks`);
  const bytes = new Uint8Array(Array.from({ length: 256 }, (_, byte) => byte));
  await capture(`${url}/a/%2f?x=%zz`, bytes, {
    headers: { 'X-Signature': 'v1=abc', 'Content-Type': 'application/octet-stream' },
  });
  await forwarder.until(() => lines(forwarder.stdout()).length === 1);
  const [arrived] = destination.received;
  expect(arrived).toMatchObject({ method: 'POST', url: '/hooks/a/%2f?x=%zz' });
  expect(arrived?.body).toEqual(Buffer.from(bytes));
  const { rawHeaders } = await person.client.call('getRequest', { params: { uid, id: -1_000_000 } });
  const own = new Set(['host', 'connection', 'content-length']);
  const others = (list: Received['headers']) => list.filter(([name]) => !own.has(name.toLowerCase()));
  expect(others(arrived?.headers ?? [])).toEqual(others(rawHeaders));
  expect(forwarder.stdout()).toMatch(/^20\S+ +0 {2}POST {4}\/a\/%2f\?x=%zz {2}- {2}→ {2}202 {2}\d+ ms\n$/);
  expect(forwarder.stderr()).toBe(`Forwarding ${url} to ${destination.url}/hooks (Ctrl-C ends it).\n`);
});

test('forwards a large body completely, and stored captures with --from', async () => {
  const { uid, url } = await newEndpoint();
  const large = 'creel '.repeat(100_000);
  await capture(url, 'not this one');
  await capture(url, large);
  const destination = await openDestination();
  const forwarder = await forward(uid, destination.url, '--from', '1', '--json');
  await forwarder.until(() => lines(forwarder.stdout()).length === 1);
  expect(destination.received.map(({ body }) => body.toString())).toEqual([large]);
  expect(JSON.parse(forwarder.stdout())).toEqual({
    index: 1,
    method: 'POST',
    target: '',
    destination: `${destination.url}/`,
    outcome: 'answered',
    status: 200,
    durationMs: expect.toSatisfy(Number.isInteger),
  });
});

test('while the destination is unreachable captures wait, then each is sent once and in order', async () => {
  const { uid, url } = await newEndpoint();
  const port = await freePort();
  const forwarder = await forward(uid, `http://127.0.0.1:${port}/`);
  for (const body of ['one', 'two', 'three']) await capture(url, body);
  await forwarder.until(() => forwarder.stderr().includes("can't be reached (nothing listens there). Trying again."));
  const destination = await openDestination(undefined, port);
  await forwarder.until(() => lines(forwarder.stdout()).length === 3);
  expect(destination.received.map(({ body }) => body.toString())).toEqual(['one', 'two', 'three']);
  expect(forwarder.stderr()).toContain('is reached again.');
});

test('never sends a capture twice, even after a failure', async () => {
  const { uid, url } = await newEndpoint();
  const destination = await openDestination((response, request) => {
    if (request.url === '/breaks') response.destroy();
    else response.writeHead(302, { location: '/elsewhere' }).end();
  });
  const forwarder = await forward(uid, destination.url);
  await capture(`${url}/breaks`);
  await capture(`${url}/moved`);
  await forwarder.until(() => lines(forwarder.stdout()).length === 2);
  expect(lines(forwarder.stdout())).toEqual([
    expect.stringMatching(/→ {2}the connection was closed without an answer {2}\d+ ms$/),
    expect.stringMatching(/→ {2}302 {2}\d+ ms$/),
  ]);
  expect(destination.received.map(({ method, url: at }) => `${method} ${at}`)).toEqual(['POST /breaks', 'POST /moved']);
});

test('says that a response was cut off', async () => {
  const { uid, url } = await newEndpoint();
  const destination = await openDestination((response) => {
    response.writeHead(200, { 'content-length': '100' }).write('half', () => response.destroy());
  });
  const forwarder = await forward(uid, destination.url);
  const asJson = await forward(uid, destination.url, '--json');
  await capture(url);
  await forwarder.until(() => lines(forwarder.stdout()).length === 1);
  await asJson.until(() => lines(asJson.stdout()).length === 1);
  expect(forwarder.stdout()).toMatch(/→ {2}200 \(cut off\) {2}\d+ ms\n$/);
  expect(JSON.parse(asJson.stdout())).toMatchObject({ outcome: 'answered', status: 200, isCut: true });
  const params = { uid, id: -1_000_000 };
  await expect
    .poll(() => person.client.call('listDeliveries', { params }))
    .toMatchObject([
      { status: 200, responseBody: 'half', responseTruncated: true },
      { status: 200, responseBody: 'half', responseTruncated: true },
    ]);
});

test('says after Ctrl-C how to continue at each destination: with the capture that is being sent, else the next one', async () => {
  const { uid, url } = await newEndpoint();
  const first = await openDestination();
  let isHanging = false;
  const second = await openDestination((response) => void (isHanging || response.end()));
  const forwarder = await forward(uid, first.url, second.url);
  await capture(url, 'one');
  await forwarder.until(() => lines(forwarder.stdout()).length === 2);
  isHanging = true;
  await capture(url, 'two');
  await forwarder.until(() => lines(forwarder.stdout()).length === 3);
  await expect.poll(() => second.received.length).toBe(2);
  forwarder.interrupt();
  expect(await forwarder.ended).toBe(0);
  // The second destination has not answered the capture with index 1.
  expect(lines(forwarder.stderr()).at(-1)).toBe('To continue with the next capture: --from 2,1');
  await capture(url, 'three');
  isHanging = false;
  const continued = await forward(uid, first.url, second.url, '--from', '2,1');
  await continued.until(() => lines(continued.stdout()).length === 3);
  const bodies = [first, second].map(({ received }) => received.map(({ body }) => body.toString()));
  expect(bodies).toEqual([
    ['one', 'two', 'three'],
    ['one', 'two', 'two', 'three'],
  ]);
  continued.interrupt();
  expect(await continued.ended).toBe(0);
  expect(lines(continued.stderr()).at(-1)).toBe('To continue with the next capture: --from 3');
});

test('on a terminal the status is green or red, unless NO_COLOR is set', async () => {
  const { uid, url } = await newEndpoint();
  const destination = await openDestination((response, { url: at }) =>
    response.writeHead(at === '/a' ? 204 : 404).end(),
  );
  for (const env of [{}, { NO_COLOR: '1' }]) {
    const forwarder = await startUntil('Forwarding', ['forward', uid, destination.url], {
      home,
      env,
      tty: { stdout: true },
    });
    await capture(`${url}/a`);
    await capture(`${url}/b`);
    await forwarder.until(() => lines(forwarder.stdout()).length === 2);
    const statuses = lines(forwarder.stdout()).map((line) => line.split('  ').at(-2));
    const isPlain = 'NO_COLOR' in env;
    expect(statuses).toEqual(isPlain ? ['204', '404'] : ['\u001b[32m204\u001b[39m', '\u001b[31m404\u001b[39m']);
  }
});

test('--retry sends again after a failure, up to N times, and prints each attempt', async () => {
  const { uid, url } = await newEndpoint();
  let failures = 2;
  const destination = await openDestination((response, request) => {
    if (request.url === '/always') response.writeHead(500).end('never\n');
    else response.writeHead(failures-- > 0 ? 503 : 200).end();
  });
  const forwarder = await forward(uid, destination.url, '--retry', '2');
  await capture(`${url}/a`);
  await capture(`${url}/always`);
  await forwarder.until(() => lines(forwarder.stdout()).length === 6);
  const statuses = lines(forwarder.stdout()).map((line) => /→ {2}(\d+) /.exec(line)?.[1]);
  expect(statuses).toEqual(['503', '503', '200', '500', '500', '500']);
  expect(destination.received.map(({ url: at }) => at)).toEqual(['/a', '/a', '/a', '/always', '/always', '/always']);
});

test('the first lines of a failed response are printed on standard error, escaped', async () => {
  const { uid, url } = await newEndpoint();
  const long = Array.from({ length: 9 }, (_, at) => `line ${at}`).join('\n');
  const answers = new Map<string, string | Buffer>([
    ['/long', long],
    ['/escape', '\u001b[2J no such order'],
    ['/binary', Buffer.of(0xff, 0xfe)],
    ['/empty', ''],
  ]);
  const destination = await openDestination((response, request) =>
    response.writeHead(422).end(answers.get(request.url)),
  );
  const forwarder = await forward(uid, destination.url);
  for (const path of answers.keys()) await capture(url + path, JSON.stringify({ type: 'order.paid' }));
  await forwarder.until(() => lines(forwarder.stdout()).length === answers.size);
  const shown = lines(forwarder.stderr()).filter((line) => line.startsWith('  | '));
  expect(shown).toEqual([
    '  | line 0',
    '  | line 1',
    '  | line 2',
    '  | line 3',
    '  | line 4',
    '  | \\x1b[2J no such order',
  ]);
});

test('several destinations get each capture, and one that is away does not delay the others', async () => {
  const { uid, url } = await newEndpoint();
  const port = await freePort();
  const first = await openDestination();
  const forwarder = await forward(uid, first.url, `http://127.0.0.1:${port}/`);
  for (const body of ['one', 'two', 'three']) await capture(url, body);
  await forwarder.until(() => lines(forwarder.stdout()).length === 3);
  expect(first.received.map(({ body }) => body.toString())).toEqual(['one', 'two', 'three']);
  const second = await openDestination(undefined, port);
  await forwarder.until(() => lines(forwarder.stdout()).length === 6);
  expect(second.received.map(({ body }) => body.toString())).toEqual(['one', 'two', 'three']);
  expect(first.received.length).toBe(3);
  expect(forwarder.stdout()).toContain(`→  http://127.0.0.1:${port}/  200`);
});

test('does not forward to the endpoint itself', async () => {
  const { uid, url } = await newEndpoint();
  for (const own of [url, `${url.replace('127.0.0.1', 'localhost')}/more?x=1`])
    expect(await creel(['forward', uid, 'http://127.0.0.1:9/', own], { home })).toMatchObject({
      code: 2,
      stderr: `${own} is the endpoint itself: each capture would be captured again without end.\n`,
    });
});

test('two endpoints that are forwarded to each other: a request stops when it is back', async () => {
  const [first, second] = [await newEndpoint(), await newEndpoint()];
  const forwarders = [await forward(first.uid, second.url), await forward(second.uid, first.url)];
  await capture(first.url, 'around', { headers: { Connection: 'creel-via, x-own', 'X-Kept': 'yes' } });
  await Promise.all(forwarders.map((each, at) => each.until(() => lines(each.stdout()).length === 2 - at)));
  const loop = 'Not forwarded: it was forwarded from this endpoint before, so it would go in a loop';
  expect(forwarders[0]?.stdout()).toContain(`→  ${loop}`);
  const stored = async ({ uid }: Endpoint) => (await readPage(person.client, uid, 10)).requests;
  expect((await stored(second)).map(({ index }) => index)).toEqual([0]);
  await expect
    .poll(async () => (await stored(first)).map(({ lastDelivery }) => lastDelivery?.error))
    .toEqual([`${loop}.`, null]);
  expect((await stored(first))[0]?.rawHeaders).toContainEqual(['X-Kept', 'yes']);
  // The user may have twenty endpoints.
  for (const { uid } of [first, second]) await person.client.call('deleteEndpoint', { params: { uid } });
});

test('--new creates an endpoint and prints its capture URL', async () => {
  const destination = await openDestination();
  const forwarder = await startUntil('Forwarding', ['forward', '--new', `${destination.url}/hooks`], { home });
  const url = /Forwarding (\S+) to/.exec(forwarder.stderr())?.[1] ?? '';
  await capture(`${url}/a`);
  await forwarder.until(() => lines(forwarder.stdout()).length === 1);
  expect(destination.received.map(({ url: at }) => at)).toEqual(['/hooks/a']);
  const endpoints = await person.client.call('listEndpoints', {});
  expect(endpoints.find((endpoint) => endpoint.url === url)?.name).toBe(`forward to ${new URL(destination.url).host}`);
  expect(await creel(['forward', '--new'], { home })).toMatchObject({
    code: 2,
    stderr: 'Name the url: creel forward --new <url>...\n',
  });
  expect(await creel(['forward'], { home })).toMatchObject({
    code: 2,
    stderr: 'Name the endpoint: creel forward <endpoint> <url>...\n',
  });
  expect(await creel(['forward', 'only-an-endpoint'], { home })).toMatchObject({
    code: 2,
    stderr: 'Name the url: creel forward <endpoint> <url>...\n',
  });
  expect(
    await creel(['forward', 'any', 'http://localhost:1', 'http://localhost:2', 'http://localhost:1/'], { home }),
  ).toMatchObject({ code: 2, stderr: 'http://localhost:1/ is given twice. Give each url once.\n' });
  expect(await creel(['forward', 'any', 'http://localhost:1', '--from', '1,2'], { home })).toMatchObject({
    code: 2,
    stderr: '--from has 2 indexes. Give one for all urls, or one for each: 1.\n',
  });
});

test("a program with Stripe's check that is stopped and killed misses nothing", async () => {
  const { uid, url } = await newEndpoint();
  const shop = await startStripeShop(join(folder.path, 'shop.log'));
  await forward(uid, shop.url, '--retry', '20');
  const send = async (from: number, to: number): Promise<void> => {
    for (let id = from; id < to; id += 1) {
      const payload = JSON.stringify({ id: `evt_${id}`, object: 'event' });
      const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret: STRIPE_SECRET });
      await capture(url, payload, { headers: { 'stripe-signature': signature } });
    }
  };
  await send(0, 5);
  shop.signal('SIGSTOP');
  await send(5, 10);
  shop.signal('SIGCONT');
  await send(10, 15);
  await shop.kill();
  await send(15, 20);
  await shop.restart();
  const accepted = async () => new Set(lines(await shop.log()));
  await expect.poll(async () => (await accepted()).size, { timeout: 60_000 }).toBe(20);
  expect(await accepted()).toEqual(new Set(Array.from({ length: 20 }, (_, id) => `evt_${id}`)));
  await shop.kill();
}, 120_000);

test('the server shows what the destination answered', async () => {
  const { uid, url } = await newEndpoint();
  const long = 'ü'.repeat(20_000);
  const destination = await openDestination((response, request) => {
    if (request.url === '/breaks') response.destroy();
    else response.writeHead(422, 'Wrong', { 'X-Answer': 'yes' }).end(long);
  });
  const forwarder = await forward(uid, `${destination.url}/hooks`, '--retry', '1');
  await capture(`${url}/a?b=1`);
  const id = -1_000_000;
  await forwarder.until(() => lines(forwarder.stdout()).length === 2);
  const deliveries = () => person.client.call('listDeliveries', { params: { uid, id } });
  await expect.poll(async () => (await deliveries()).length).toBe(2);
  const [latest, first] = await deliveries();
  expect(first).toMatchObject({ attempt: 1, status: 422 });
  expect(latest).toMatchObject({
    kind: 'cli',
    attempt: 2,
    destinationId: null,
    url: `${destination.url}/hooks/a?b=1`,
    method: 'POST',
    status: 422,
    statusText: 'Wrong',
    error: null,
    responseBody: 'ü'.repeat(8192),
    responseTruncated: true,
  });
  expect(latest?.responseHeaders).toContainEqual({ key: 'X-Answer', value: 'yes' });
  expect(await person.client.call('getRequest', { params: { uid, id } })).toMatchObject({
    lastDelivery: { kind: 'cli', status: 422, error: null },
  });
  const [row] = await person.client.call('listUnsaved', { params: { uid } });
  expect(row?.lastDelivery).toMatchObject({ status: 422 });
});

test('Ctrl-C ends it immediately, even while it waits for a response, and prints no result for that capture', async () => {
  const { uid, url } = await newEndpoint();
  const destination = await openDestination(() => undefined);
  const forwarder = await forward(uid, destination.url);
  await capture(url);
  await expect.poll(() => destination.received.length).toBe(1);
  forwarder.interrupt();
  expect(await forwarder.ended).toBe(0);
  expect(forwarder.stdout()).toBe('');
}, 20_000);

test('a capture waits while the TLS handshake fails', async () => {
  const { uid, url } = await newEndpoint();
  const hangsUp = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.destroy());
  });
  const forwarder = await forward(uid, `https://127.0.0.1:${await listenLocally(hangsUp)}/`);
  await capture(url);
  await forwarder.until(() => forwarder.stderr().includes('Trying again.'));
  expect(forwarder.stdout()).toBe('');
  await new Promise((resolve) => hangsUp.close(resolve));
});

test('an invalid URL is a usage error', async () => {
  const { uid } = await newEndpoint();
  expect(await creel(['forward', uid, 'localhost:4000'], { home })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('is not a URL to forward to'),
  });
});
