import Fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { registerWebFiles } from './static-pages.ts';

const server: FastifyInstance = Fastify();

const root = await mkdtemp(join(tmpdir(), 'creel-web-'));
await mkdir(join(root, 'assets'));
const files = {
  'index.html': 'page',
  'index.html.br': 'page in br',
  'icon.svg': '<svg/>',
  '.hidden': 'hidden',
  'assets/app.js': 'app',
  'assets/app.js.br': 'app in br',
  'assets/app.js.gz': 'app in gzip',
  'assets/only.gz': 'a file of its own',
};
for (const [name, text] of Object.entries(files)) await writeFile(join(root, name), text);
await registerWebFiles(server, root);
afterAll(() => rm(root, { recursive: true }));

const get = (url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
  server.inject({ method, url, headers });

test.each([
  ['gzip, deflate, br, zstd', 'br', 'app in br'],
  ['gzip', 'gzip', 'app in gzip'],
  ['br;q=0, GZIP;q=0.5', 'gzip', 'app in gzip'],
  ['br;q=0.0,gzip; q=0', undefined, 'app'],
  ['identity', undefined, 'app'],
])('accept-encoding: %s gets %s', async (accepted, coding, text) => {
  const answer = await get('/assets/app.js', { 'accept-encoding': accepted });
  expect([answer.statusCode, answer.headers['content-encoding'], answer.body]).toEqual([200, coding, text]);
  expect(answer.headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'content-length': String(text.length),
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'accept-encoding',
  });
});

test('a client that has the file gets 304', async () => {
  const first = await get('/icon.svg');
  expect([first.headers['cache-control'], first.headers['content-type']]).toEqual(['no-cache', 'image/svg+xml']);
  const etag = String(first.headers['etag']);
  for (const known of [etag, `"other", W/${etag}`, '*']) {
    const again = await get('/icon.svg', { 'if-none-match': known });
    expect([again.statusCode, again.body, again.headers['etag']]).toEqual([304, '', etag]);
  }
  expect((await get('/icon.svg', { 'if-none-match': '"other"' })).statusCode).toBe(200);
  const coded = await get('/assets/app.js', { 'accept-encoding': 'br' });
  expect(coded.headers['etag']).not.toBe((await get('/assets/app.js')).headers['etag']);
});

test('HEAD has the headers of GET and no body', async () => {
  const answer = await get('/assets/app.js', {}, 'HEAD');
  expect([answer.statusCode, answer.headers['content-length'], answer.body]).toEqual([200, '3', '']);
});

test('the page, hidden files, and coded files are not files of the web app', async () => {
  for (const path of ['/index.html', '/index.html.br', '/.hidden', '/assets/app.js.br', '/assets/app.js.gz', '/assets'])
    expect([path, (await get(path)).statusCode]).toEqual([path, 404]);
  expect((await get('/assets/only.gz')).headers['content-type']).toBe('application/octet-stream');
});
