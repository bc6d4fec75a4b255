import { readFile, readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { listenLocally } from '../../../fixtures/listen-locally.ts';
import { openRaw, rawRequest } from '../../../fixtures/raw-http.ts';
import { startServerProcess } from '../test/server-process.ts';
import { createTestDatabase } from '../test/test-database.ts';

test('the first signal lets a request finish that is being sent, a second one ends the server', async () => {
  const server = await startServerProcess();
  onTestFinished(() => server.stop());
  using sender = await openRaw({ port: server.port });
  const head = ['POST /api/login HTTP/1.1', 'Host: h', 'Expect: 100-continue', 'Content-Length: 9'];
  await sender.send(rawRequest(head));
  // The server has begun to read the request.
  expect((await sender.next()).status).toBe(100);
  const exitCode = server.kill('SIGTERM', 30_000);
  const listens = (): Promise<boolean> =>
    fetch(server.origin).then(
      () => true,
      () => false,
    );
  await expect.poll(listens).toBe(false);
  await server.kill('SIGTERM');
  expect(await exitCode).toBe(1);
});

test('a closed terminal stops the server as SIGTERM does', async () => {
  const server = await startServerProcess();
  onTestFinished(() => server.stop());
  process.kill(server.pid, 'SIGHUP');
  await expect.poll(server.ended, { timeout: 30_000 }).toBe(0);
});

test('lookups of names have sixteen threads, however the server is started', async (context) => {
  if (process.platform !== 'linux') return context.skip('Only Linux lists the names of threads in files.');
  const { pid, stop } = await startServerProcess();
  onTestFinished(stop);
  const threads = `/proc/${pid}/task`;
  const names = (await readdir(threads)).map((id) => readFile(`${threads}/${id}/comm`, 'utf8'));
  const pool = (await Promise.all(names)).filter((name) => name.startsWith('libuv-worker'));
  expect(pool).toHaveLength(32);
});

test('a server that may open few files says how many connections it accepts', async (context) => {
  if (process.platform !== 'linux') return context.skip('Only Linux has the limit of open files in a file.');
  const launcher = ['sh', '-c', 'ulimit -n 1000; exec "$@"', 'sh'];
  const server = await startServerProcess({}, { launcher });
  onTestFinished(() => server.stop());
  expect(server.output()).toContain('it accepts 872 connections at once');
});

test('a server whose port is in use says which one, without a stack', async () => {
  const other = createServer();
  const port = await listenLocally(other);
  onTestFinished(() => void other.close());
  const start = startServerProcess({}, { port });
  await expect(start).rejects.toThrow(`Port ${port} is in use by another program.`);
  await expect(start).rejects.not.toThrow('    at ');
});

test('a second server on the same port says which one', async () => {
  const { port, stop } = await startServerProcess();
  onTestFinished(stop);
  // The first server answers 404, so that the second one is waited for until it ends.
  const second = startServerProcess({}, { port, untilPath: '/api/none' });
  await expect(second).rejects.toThrow(`Port ${port} is in use by another program.`);
});

test('a server that gets too few connections of PostgreSQL says so, without a stack', async () => {
  const database = await createTestDatabase();
  const role = `${database.name}_role`;
  const url = new URL(database.url);
  await database.run(
    `create role ${role} login password '${url.password}' connection limit 2; grant all on schema public to ${role}`,
  );
  url.username = role;
  const start = startServerProcess({ DATABASE_URL: url.href });
  await expect(start).rejects.toThrow(
    /has no connection left\. Raise its max_connections, or stop other programs\.\n$/,
  );
  await expect(start).rejects.not.toThrow('    at ');
  await database.run(`drop owned by ${role}; drop role ${role}`);
  await database.remove();
});
