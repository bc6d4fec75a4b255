import type { Client, Endpoint } from '@creel/contract';
import { capturedRequestSchema } from '@creel/contract';
import { join } from 'node:path';
import { brotliCompressSync, deflateRawSync, gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { startTarget } from '../../../../fixtures/target-server.ts';
import { creel, creelLogin, lines, start, startUntil } from '../../test/creel.ts';
import type { Running } from '../../test/creel.ts';
import { freePort } from '../../../../fixtures/free-port.ts';
import { capture, logIn, register, startServer, temporaryFolder } from '../../test/server-process.ts';

const folder = await temporaryFolder();
const dataDir = join(folder.path, 'data');
let server = await startServer(dataDir);
const person = await register(server.origin);
let home = await signIn('home');

afterAll(async () => {
  await server.stop();
  await folder.remove();
});

async function signIn(name: string): Promise<string> {
  const own = join(folder.path, name);
  await creelLogin(server.origin, person, own);
  return own;
}

const newEndpoint = (): Promise<Endpoint> => person.client.call('createEndpoint', { body: {} });

const follow = (uid: string, ...more: string[]): Promise<Running> =>
  startUntil('Following', ['follow', uid, ...more], { home });

/** Acts at a server with the same data on another port, while the follower can't connect. */
async function whileDisconnected(
  follower: Running,
  act: (client: Client, origin: string) => Promise<unknown>,
  signal?: 'SIGKILL',
): Promise<void> {
  const { port } = server;
  await server.stop(signal);
  await follower.until(() => follower.stderr().includes('The connection is lost.'));
  const elsewhere = await startServer(dataDir, await freePort());
  await act(await logIn(elsewhere.origin, person), elsewhere.origin);
  await elsewhere.stop();
  server = await startServer(dataDir, port);
}

/** The indexes of the printed lines, in their order. */
const indexes = (follower: Running): number[] => lines(follower.stdout()).map((line) => Number(line.split(/ +/)[1]));
const upTo = (count: number, from = 0): number[] => Array.from({ length: count }, (_, n) => from + n);

async function captureMany(url: string, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent += 50)
    await Promise.all(Array.from({ length: Math.min(50, count - sent) }, () => capture(url)));
}

test('prints new captures but no stored ones, and exits with 0', async () => {
  const { uid, url } = await newEndpoint();
  await capture(url);
  const follower = await follow(uid);
  await capture(`${url}/a?b=1`, 'four');
  await follower.until(() => indexes(follower).length === 1);
  expect(follower.stdout()).toMatch(/^20\d\d-[\d:T.-]+Z      1  POST    \/a\?b=1  4 B\n$/);
  follower.interrupt();
  expect(await follower.ended).toBe(0);
  expect(follower.stderr()).toBe(`Following ${url} (Ctrl-C ends it).\n`);
});

test('--from starts with stored captures, more than the first message contains', async () => {
  const { uid, url } = await newEndpoint();
  await captureMany(url, 130);
  await person.client.call('saveRequest', { params: { uid }, body: { index: 12 } });
  await person.client.call('deleteRequest', { params: { uid, id: -1_000_020 } });
  const follower = await follow(uid, '--from', '10', '--json');
  await capture(url);
  const wanted = upTo(121, 10).filter((index) => index !== 20);
  await follower.until(() => lines(follower.stdout()).length >= wanted.length);
  const printed = lines(follower.stdout()).map((line) => capturedRequestSchema.parse(JSON.parse(line)));
  expect(printed.map((request) => request.index)).toEqual(wanted);
  // Deleted before the command started, so it is not reported.
  expect(follower.stderr()).not.toContain('Deleted');
});

test('--query prints matching captures of any size and content coding', async () => {
  const { uid, url } = await newEndpoint();
  const follower = await follow(uid, '--query', 'body:needle OR method:PUT');
  await capture(url, 'nothing');
  await capture(url, `${'x'.repeat(20_000)}needle`);
  const members = Buffer.concat([gzipSync('a nee'), gzipSync('dle')]);
  await capture(url, Uint8Array.from(members), { headers: { 'content-encoding': 'gzip' } });
  const twice = Uint8Array.from(brotliCompressSync(gzipSync('a needle')));
  await capture(url, twice, { headers: { 'content-encoding': 'gzip, br' } });
  await capture(url, 'nothing', { method: 'PUT' });
  await capture(url, Uint8Array.from(deflateRawSync('a needle')), { headers: { 'content-encoding': 'deflate' } });
  await follower.until(() => indexes(follower).length === 5);
  expect(indexes(follower)).toEqual([1, 2, 3, 4, 5]);
  const found = await creel(['requests', uid, '--query', 'body:needle', '--limit', '3'], { home });
  expect(lines(found.stdout).map((line) => Number(line.split(/ +/)[1]))).toEqual([5, 3, 2]);
  expect(found.stderr).toBe('There are more: --before 2\n');
  const rest = await creel(['requests', uid, '--query', 'body:needle', '--before', '2'], { home });
  expect(lines(rest.stdout).map((line) => Number(line.split(/ +/)[1]))).toEqual([1]);
});

test('prints every capture exactly once across a restart of the server', async () => {
  const { uid, url } = await newEndpoint();
  const follower = await follow(uid);
  await captureMany(url, 3);
  await follower.until(() => indexes(follower).length === 3);

  await whileDisconnected(
    follower,
    async (client, origin) => {
      // More requests than an `init` and two pages of a list.
      await captureMany(`${origin}/h/${uid}`, 1200);
      await client.call('saveRequest', { params: { uid }, body: { index: 500 } });
    },
    'SIGKILL',
  );
  await captureMany(url, 50);
  await follower.until(() => indexes(follower).length >= 1253);
  await captureMany(url, 2);
  await follower.until(() => indexes(follower).length >= 1255);
  expect(indexes(follower)).toEqual(upTo(1255));
  expect(lines(follower.stderr())).toEqual([
    `Following ${url} (Ctrl-C ends it).`,
    'The connection is lost. Trying again.',
    'Connected again.',
  ]);
});

test('reports captures that were deleted before it could print them', async () => {
  const { uid, url } = await newEndpoint();
  await capture(url);
  await person.client.call('clearRequests', { params: { uid } });
  const follower = await follow(uid);
  await whileDisconnected(follower, async (client, origin) => {
    await captureMany(`${origin}/h/${uid}`, 3);
    await client.call('deleteRequest', { params: { uid, id: -1_000_001 } });
  });
  await follower.until(() => indexes(follower).length === 2);
  expect(indexes(follower)).toEqual([2, 3]);
  expect(follower.stderr()).toContain('Deleted before it could be shown: request 1.\n');
});

test('ends when the endpoint is deleted', async () => {
  const { uid, url } = await newEndpoint();
  const follower = await follow(uid);
  await capture(url);
  await follower.until(() => indexes(follower).length === 1);
  await person.client.call('deleteEndpoint', { params: { uid } });
  expect(await follower.ended).toBe(1);
  expect(follower.stderr()).toContain('The endpoint was deleted.\n');
});

test('ends when the endpoint was deleted while it was disconnected', async () => {
  const { uid } = await newEndpoint();
  const follower = await follow(uid);
  await whileDisconnected(follower, (client) => client.call('deleteEndpoint', { params: { uid } }));
  expect(await follower.ended).toBe(1);
  expect(follower.stderr()).toContain('This endpoint does not exist.\n');
});

test('ends when the session ends', async () => {
  const { uid, url } = await newEndpoint();
  const follower = await follow(uid);
  await capture(url);
  await follower.until(() => indexes(follower).length === 1);
  await person.client.call('endOtherSessions', {});
  expect(await follower.ended).toBe(1);
  expect(follower.stderr()).toContain('The session has ended. Log in with: creel login\n');
  home = await signIn('home-again');
});

/** A forwarder of a new endpoint. */
async function startForward(...targets: readonly string[]) {
  const endpoint = await newEndpoint();
  const forwarder = await startUntil('Forwarding', ['forward', endpoint.uid, ...targets], { home });
  return { ...endpoint, forwarder };
}

/** A forwarder that has forwarded one capture. */
async function forwardOne(target: string): Promise<Running> {
  const { url, forwarder } = await startForward(target);
  await capture(url);
  await forwarder.until(() => lines(forwarder.stdout()).length === 1);
  return forwarder;
}

test('forward says after the end of the session how to continue', async () => {
  await using target = await startTarget();
  const forwarder = await forwardOne(target.url);
  await person.client.call('endOtherSessions', {});
  expect(await forwarder.ended).toBe(1);
  expect(lines(forwarder.stderr()).slice(-2)).toEqual([
    'To continue with the next capture: --from 1',
    'The session has ended. Log in with: creel login',
  ]);
  home = await signIn('home-after-forward');
});

test('forward ends with its session while the target is away', async () => {
  const { url, forwarder } = await startForward(`http://127.0.0.1:${await freePort()}`);
  await capture(url);
  await forwarder.until(() => forwarder.stderr().includes('Trying again.'));
  await person.client.call('endOtherSessions', {});
  expect(await forwarder.ended).toBe(1);
  expect(lines(forwarder.stderr()).slice(-2)).toEqual([
    'To continue with the next capture: --from 0',
    'The session has ended. Log in with: creel login',
  ]);
  expect(forwarder.stderr()).not.toContain('Waiting for');
  home = await signIn('home-after-target');
});

test('forward completes what it is sending to one url before it ends', async () => {
  await using fast = await startTarget();
  await using slow = await startTarget();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  slow.answerWith((response) => void released.then(() => response.end()));
  const { uid, url, forwarder } = await startForward(fast.url, slow.url);
  await capture(url);
  await forwarder.until(() => lines(forwarder.stdout()).length === 1 && slow.received.length === 1);
  await person.client.call('deleteEndpoint', { params: { uid } });
  const metrics = async (): Promise<string> => (await fetch(`${server.origin}/metrics`)).text();
  await expect.poll(metrics).toContain('creel_live_viewers 0');
  await forwarder.until(() => forwarder.stderr().includes(`Waiting for ${slow.url}/ to answer request 0`));
  release();
  expect(await forwarder.ended).toBe(1);
  expect(forwarder.stdout()).toContain(`→  ${slow.url}/  200`);
  expect(lines(forwarder.stderr()).at(-1)).toBe('The endpoint was deleted.');
});

test('forward says that something else than Creel answers, and continues after it', async () => {
  await using target = await startTarget();
  const forwarder = await forwardOne(target.url);
  const { port } = server;
  await server.stop();
  const proxy = await startTarget(port);
  proxy.answerWith((response) => response.writeHead(404).end('404 page not found'));
  await forwarder.until(() =>
    forwarder.stderr().includes('The server answered 404, but the response is not from a Creel server.'),
  );
  await proxy.close();
  server = await startServer(dataDir, port);
  await forwarder.until(() => forwarder.stderr().includes('Connected again.'));
  forwarder.interrupt();
  expect(await forwarder.ended).toBe(0);
  expect(lines(forwarder.stderr()).at(-1)).toBe('To continue with the next capture: --from 1');
});

test('forward does not repeat a capture whose result could not be printed', async () => {
  await using target = await startTarget();
  const { uid, url } = await newEndpoint();
  await capture(url, 'one');
  await capture(url, 'two');
  for (const [at, code] of ['ENOSPC', 'EPIPE'].entries()) {
    const stdoutError = Object.assign(new Error(code), { code, syscall: 'write' });
    const forwarder = start(['forward', uid, target.url, '--from', '0'], { home, stdoutError });
    await forwarder.ended;
    expect(target.received).toHaveLength(at + 1);
    expect(lines(forwarder.stderr())[1]).toBe('To continue with the next capture: --from 1');
  }
});

test('a query says which of its words are no fields, and that nothing matches', async () => {
  const { uid } = await newEndpoint();
  const note = 'methd: is not a field, so it is searched as text. Did you mean method:?\n';
  const nothing = (text: string) => ({ code: 0, stdout: '', stderr: text });
  expect(await creel(['requests', uid], { home })).toMatchObject(nothing('No requests.\n'));
  const found = await creel(['requests', uid, '--query', 'methd:PUT is:saved'], { home });
  expect(found).toMatchObject(nothing(`${note}No request matches.\n`));
  const follower = await follow(uid, '--query', 'methd:PUT');
  expect(follower.stderr()).toContain(note);
});

test('a query that no new capture can match says so, unless stored ones are read', async () => {
  const { uid } = await newEndpoint();
  const note = 'so a new one rarely matches';
  const failed = ['--query', 'is:failed'];
  expect((await follow(uid, ...failed)).stderr()).toContain(note);
  expect((await follow(uid, ...failed, '--from', '0')).stderr()).not.toContain(note);
});
