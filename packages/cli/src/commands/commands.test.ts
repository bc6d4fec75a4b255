import { endpointSchema, capturedRequestSchema } from '@creel/contract';
import type { Endpoint } from '@creel/contract';
import { readFile, stat, writeFile, mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { run } from '../run.ts';
import { sessionPath } from '../session.ts';
import { creel, start } from '../../test/creel.ts';
import { freePort } from '../../../../fixtures/free-port.ts';
import { listenLocally } from '../../../../fixtures/listen-locally.ts';
import { startTarget } from '../../../../fixtures/target-server.ts';
import { capture, register, startServer, temporaryFolder } from '../../test/server-process.ts';
import type { Person } from '../../test/server-process.ts';

let homes = 0;
const folder = await temporaryFolder();
const newHome = (): string => join(folder.path, `home-${(homes += 1)}`);
const server = await startServer(join(folder.path, 'data'));
const person = await register(server.origin);
const home = await signedIn();

afterAll(async () => {
  await server.stop();
  await folder.remove();
});

/** The configuration folder of a user who has just logged in. */
async function signedIn(who: Person = person): Promise<string> {
  const own = newHome();
  const words = ['login', '--server', server.origin, '--username', who.username];
  expect(await creel(words, { home: own, stdin: `${who.password}\n` })).toMatchObject({ code: 0, stderr: '' });
  return own;
}

const newEndpoint = (name: string): Promise<Endpoint> => person.client.call('createEndpoint', { body: { name } });

describe('login and logout', () => {
  test('store the session for the user only, end it on the server, and delete it', async () => {
    const own = await signedIn();
    const path = sessionPath({ XDG_CONFIG_HOME: own });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readFile(path, 'utf8')).not.toContain(person.password);
    const { cookies } = JSON.parse(await readFile(path, 'utf8'));
    const cookie = `creel_session=${cookies.creel_session}`;
    expect((await fetch(`${server.origin}/api/user`, { headers: { cookie } })).status).toBe(200);

    expect(await creel(['logout'], { home: own })).toMatchObject({
      code: 0,
      stdout: `Logged out at ${server.origin}.\n`,
    });
    expect((await fetch(`${server.origin}/api/user`, { headers: { cookie } })).status).toBe(401);
    await expect(stat(path)).rejects.toThrow('ENOENT');
    expect(await creel(['endpoints'], { home: own })).toMatchObject({
      code: 1,
      stderr: 'You are not logged in. Log in with: creel login\n',
    });
  });

  test('a second login ends the first session and replaces a file that others can read', async () => {
    const own = newHome();
    const path = sessionPath({ XDG_CONFIG_HOME: own });
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, 'not a session', { mode: 0o644 });
    const words = ['login', '--username', person.username];
    const env = { CREEL_URL: server.origin };
    expect(await creel(words, { home: own, env, stdin: person.password })).toMatchObject({ code: 0 });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const sessions = await person.client.call('listSessions', {});
    await creel(words, { home: own, env, stdin: person.password });
    expect(await person.client.call('listSessions', {})).toHaveLength(sessions.length);
  });

  test('without a terminal, a login goes to the server of the last one', async () => {
    const own = newHome();
    const words = ['login', '--username', person.username];
    expect(await creel(words, { home: own, stdin: person.password })).toMatchObject({
      code: 2,
      stderr: 'Name the server: --server or CREEL_URL.\n',
    });
    await creel([...words, '--server', server.origin], { home: own, stdin: person.password });
    expect(await creel(words, { home: own, stdin: person.password })).toMatchObject({
      code: 0,
      stdout: `Logged in at ${server.origin} as ${person.username}.\n`,
    });
  });

  test('ask on the terminal without showing the password', async () => {
    const own = newHome();
    const running = start(['login'], { home: own, tty: { stdin: true } });
    await running.until(() => running.stderr().includes('Server ['));
    running.type(`${server.origin}/\r`);
    await running.until(() => running.stderr().includes('Username: '));
    running.type(`${person.username}\r`);
    await running.until(() => running.stderr().includes('Password: '));
    running.type(`x\x7f${person.password}\r`);
    expect(await running.ended).toBe(0);
    expect(running.stdout()).toBe(`Logged in at ${server.origin} as ${person.username}.\n`);
    expect(running.stderr()).not.toMatch(/good|\*/);
  });

  test('ask for the password when the terminal no longer shows what is typed', async () => {
    const events: string[] = [];
    const setRawMode = (isRaw: boolean): void => void events.push(isRaw ? 'hidden' : 'shown');
    const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode });
    const stderr = new Writable({ write: (text, _encoding, done) => done(void events.push(String(text))) });
    const words = ['login', '--server', server.origin, '--username', person.username];
    const env = { XDG_CONFIG_HOME: newHome() };
    const { signal } = new AbortController();
    const ended = run(words, { stdin, stdout: new PassThrough(), stderr, env, interrupted: () => signal });
    await expect.poll(() => events).toContain('Password: ');
    stdin.write('\x03');
    expect(await ended).toBe(1);
    expect(events).toEqual(['hidden', 'Password: ', 'shown', '\n', 'Nothing was changed.\n']);
  });

  test('Ctrl-C at a question changes nothing', async () => {
    const own = newHome();
    const running = start(['login', '--server', server.origin], { home: own, tty: { stdin: true } });
    await running.until(() => running.stderr().includes('Username: '));
    running.type('\x03');
    expect(await running.ended).toBe(1);
    expect(running.stderr()).toContain('Nothing was changed.');
  });

  test.each([
    [['--username', 'someone-else'], 'a good password', 1, 'Invalid username or password\n'],
    [['--username', 'al'], 'x', 1, 'Some of what was sent is not valid.\nUsername must be at least 3 characters\n'],
    [[], 'x', 2, 'Name the user: --username.\n'],
    [['--server', 'hooks.example'], 'x', 2, '--server must be an http or https URL without a path'],
  ])('refuse %j', async (words, stdin, code, sentence) => {
    const env = { CREEL_URL: server.origin };
    const refused = await creel(['login', ...words], { home: newHome(), env, stdin });
    expect(refused).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(sentence) });
  });

  test('an unreachable server is named, with the reason', async () => {
    const nobody = `http://127.0.0.1:${await freePort()}`;
    const words = ['login', '--server', nobody, '--username', 'alice'];
    expect(await creel(words, { home: newHome(), stdin: 'a good password' })).toMatchObject({
      code: 1,
      stderr: `${nobody} could not be reached (ECONNREFUSED).\n`,
    });
  });

  test('a program that does not speak HTTP is named, with the reason', async () => {
    const program = createServer((socket) => void socket.end('hello\r\n\r\n'));
    const origin = `http://127.0.0.1:${await listenLocally(program)}`;
    const words = ['login', '--server', origin, '--username', 'alice'];
    expect(await creel(words, { home: newHome(), stdin: 'a good password' })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${origin} could not be reached (Response does not match the HTTP/1.1 protocol`),
    });
    program.close();
  });

  test('cookies go only to the server that set them', async () => {
    expect(await creel(['endpoints', '--server', 'http://other.invalid'], { home })).toMatchObject({
      code: 1,
      stderr: `You are logged in at ${server.origin}. Log in with: creel login --server http://other.invalid\n`,
    });
  });

  test('an ended session says how to log in again', async () => {
    const other = await register(server.origin);
    const own = await signedIn(other);
    await other.client.call('endOtherSessions', {});
    expect(await creel(['endpoints'], { home: own })).toMatchObject({
      code: 1,
      stderr: 'Please log in first.\nLog in with: creel login\n',
    });
  });
});

describe('endpoints', () => {
  test('create prints only the capture URL, which captures requests', async () => {
    const created = await creel(['create', '--name', 'from a script'], { home });
    expect(created).toMatchObject({ code: 0, stderr: '' });
    const url = created.stdout.trimEnd();
    expect(created.stdout).toBe(`${url}\n`);
    await capture(url);
    const listed = await creel(['endpoints'], { home });
    expect(listed.stdout).toMatch(
      new RegExp(`^${url.split('/h/')[1]} +1 stored +expires 20.*Z +${url} +from a script$`, 'm'),
    );
  });

  test('--json prints the response of the API', async () => {
    const { uid } = await newEndpoint('as json');
    const { stdout } = await creel(['endpoints', '--json'], { home });
    const all = stdout
      .trimEnd()
      .split('\n')
      .map((line) => endpointSchema.parse(JSON.parse(line)));
    expect(all.find((endpoint) => endpoint.uid === uid)?.name).toBe('as json');
  });

  test("a rejected call prints the server's sentence", async () => {
    expect(await creel(['create', '--name', 'x'.repeat(101)], { home })).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'Name must be at most 100 characters\n',
    });
  });
});

describe('requests', () => {
  test('are listed newest first, saved and unsaved, page by page', async () => {
    const { uid, url } = await newEndpoint('paged');
    for (let n = 0; n < 5; n += 1) await capture(`${url}/${n}`);
    for (const index of [1, 3]) await person.client.call('saveRequest', { params: { uid }, body: { index } });
    const paths = (text: string): string[] => [...text.matchAll(/ (\/\d) /g)].map(([, path = '']) => path);

    const all = await creel(['requests', 'paged'], { home });
    expect(paths(all.stdout)).toEqual(['/4', '/3', '/2', '/1', '/0']);
    expect(all).toMatchObject({ code: 0, stderr: '' });
    const first = await creel(['requests', uid, '--limit', '2'], { home });
    expect(paths(first.stdout)).toEqual(['/4', '/3']);
    expect(first.stderr).toBe('There are more: --before 3\n');
    const second = await creel(['requests', url, '--limit', '3', '--before', '3', '--json'], { home });
    const found = second.stdout
      .trimEnd()
      .split('\n')
      .map((line) => capturedRequestSchema.parse(JSON.parse(line)));
    expect(found.map((request) => [request.index, request.saved])).toEqual([
      [2, false],
      [1, true],
      [0, false],
    ]);
    expect(second.stderr).toBe('');
  });

  test('lists more requests than one page of the API', async () => {
    const { uid, url } = await newEndpoint('many');
    for (let n = 0; n < 520; n += 40) await Promise.all(Array.from({ length: 40 }, () => capture(url)));
    const { stdout, stderr } = await creel(['requests', uid, '--limit', '510'], { home });
    const indexes = stdout
      .trimEnd()
      .split('\n')
      .map((line) => Number(line.split(/ +/)[1]));
    expect(indexes).toEqual(Array.from({ length: 510 }, (_, n) => 519 - n));
    expect(stderr).toBe('There are more: --before 10\n');
  });

  test("another user's endpoint does not exist", async () => {
    const { uid } = await (await register(server.origin)).client.call('createEndpoint', { body: {} });
    expect(await creel(['requests', uid], { home })).toMatchObject({ code: 1, stdout: '' });
  });
});

describe('show and body', () => {
  const BYTES = new Uint8Array([0, 0xff, 0x1b, 0x5b, 0x32, 0x4a, 0x0d, 0x0a]);
  const EVIL = '\x1b]0;owned\x07\n\x1b[2Jend';
  let uid: string;

  beforeAll(async () => {
    const endpoint = await newEndpoint('bodies');
    uid = endpoint.uid;
    await capture(`${endpoint.url}/a`, EVIL, { headers: { 'X-Thing': 'one' } });
    await capture(`${endpoint.url}/b`, BYTES);
    await capture(`${endpoint.url}/c`, 'plain\n');
    await person.client.call('saveRequest', { params: { uid }, body: { index: 1 } });
  });

  test('show never writes an escape sequence', async () => {
    const { code, stdout } = await creel(['show', uid, '0'], { home });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^POST \/a\n/);
    expect(stdout).toMatch(/^x-thing: one$/im);
    expect(stdout.endsWith('\n\n\\x1b]0;owned\\x07\n\\x1b[2Jend\n')).toBe(true);
    // No control characters except line feeds.
    // oxlint-disable-next-line no-control-regex
    expect(stdout).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
  });

  test('show prints the request as the API returns it', async () => {
    const { code, stdout, stderr } = await creel(['show', uid, '1', '--json'], { home });
    expect([code, stderr, stdout.split('\n').length]).toEqual([0, '', 2]);
    const [{ id } = { id: 0 }] = await person.client.call('listSaved', { params: { uid }, query: {} });
    expect(JSON.parse(stdout)).toEqual(await person.client.call('getRequest', { params: { uid, id: String(id) } }));
  });

  test('show says how to get a body that is not text', async () => {
    const { stdout, stderr } = await creel(['show', uid, '1'], { home });
    expect(stdout.endsWith('\n\n')).toBe(true);
    expect(stderr).toBe('The body is not text (8 B). For its bytes: creel body\n');
  });

  test.each([
    ['0', Buffer.from(EVIL)],
    ['1', Buffer.from(BYTES)],
  ])('body %s is the exact bytes, saved or not', async (index, bytes) => {
    expect(await creel(['body', uid, index], { home })).toMatchObject({ code: 0, bytes, stderr: '' });
    const output = join(folder.path, `body-${index}`);
    expect(await creel(['body', uid, index, '--output', output], { home })).toMatchObject({ code: 0, stdout: '' });
    expect(await readFile(output)).toEqual(bytes);
  });

  test.each(['0', '1'])('body %s goes to a terminal only with --force', async (index) => {
    const tty = { stdout: true };
    const refused = await creel(['body', uid, index], { home, tty });
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('not plain text') });
    expect((await creel(['body', uid, index, '--force'], { home, tty })).bytes.length).toBeGreaterThan(0);
  });

  test('plain text goes to a terminal', async () => {
    expect(await creel(['body', uid, '2'], { home, tty: { stdout: true } })).toMatchObject({
      code: 0,
      stdout: 'plain\n',
    });
  });

  test('a missing request or file is named', async () => {
    const missing = { code: 1, stdout: '', stderr: 'This request does not exist.\n' };
    expect(await creel(['body', uid, '3'], { home })).toMatchObject(missing);
    expect(await creel(['show', uid, '99'], { home })).toMatchObject(missing);
    const output = join(folder.path, 'no', 'such', 'folder');
    expect(await creel(['body', uid, '2', '--output', output], { home })).toMatchObject({
      code: 1,
      stderr: `${output} can't be written (ENOENT).\n`,
    });
  });
});

test('replay makes the server send a request and prints the response', async () => {
  const { uid, url } = await newEndpoint('replayed');
  const destination = await startTarget();
  onTestFinished(() => destination.close());
  destination.answerWith((response) => response.writeHead(201, { 'x-b': '\u009b2J' }).end('made\u001b[2J'));
  await capture(`${url}/a`, new Uint8Array([0, 255]), { headers: { 'X-Own': 'kept' } });
  const told = await creel(['replay', uid, '0', `${destination.url}/there`], { home });
  expect(told.code).toBe(0);
  expect(told.stdout.split('\n')).toEqual(
    expect.arrayContaining([expect.stringMatching(/^201 Created {2}\d+ ms$/), 'x-b: \\x9b2J', '', 'made\\x1b[2J']),
  );
  const [arrived] = destination.received;
  expect(arrived).toMatchObject({ method: 'POST', url: '/there', body: Buffer.from([0, 255]) });
  expect(arrived?.headers.map(([name]) => name.toLowerCase())).toContain('x-own');
});

test('replay says why there was no response', async () => {
  const { uid, url } = await newEndpoint('not replayed');
  await capture(url);
  const gone = await creel(['replay', uid, '0', `http://127.0.0.1:${await freePort()}/`], { home });
  expect(gone).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('refused the connection') });
  expect(await creel(['replay', uid, '7', 'http://127.0.0.1:1/'], { home })).toMatchObject({ code: 1 });
  expect(await creel(['replay', uid, '0', 'localhost:4000/hooks'], { home })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Use one such as http://localhost:4000/webhooks'),
  });
});
