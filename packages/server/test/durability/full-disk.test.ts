import { copyFile, mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import { afterEach, describe, expect, test } from 'vitest';
import { startServerProcess } from '../server-process.ts';
import type { ServerProcess } from '../server-process.ts';
import { signUp } from '../sign-up.ts';
import { mountSmallDisk } from '../small-disk.ts';
import type { SmallDisk } from '../small-disk.ts';

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

const MIB = 1024 * 1024;
const SETTINGS = { LOG_LEVEL: 'info', MAX_UNSAVED_PER_ENDPOINT: '1000000' };

/**
 * A disk of 64 MiB. Where the user may not mount one, the test is skipped; the quota in `disk-space.test.ts`
 * covers SQLite's part.
 */
async function smallDisk(context: TestContext): Promise<SmallDisk> {
  const disk = await mountSmallDisk(64);
  if (typeof disk === 'string') return context.skip(disk);
  undo.push(() => disk.remove());
  return disk;
}

async function startOn(place: SmallDisk['forServer'] | { readonly dataDir: string }): Promise<ServerProcess> {
  const server = await startServerProcess(SETTINGS, place);
  undo.push(() => server.stop());
  return server;
}

async function untilReserved(dataDir: string): Promise<void> {
  await expect
    .poll(async () => (await stat(join(dataDir, 'creel.reserve')).catch(() => undefined))?.size ?? 0, {
      timeout: 20_000,
    })
    .toBe(8 * MIB);
}

async function capture(url: string, bytes = 1000): Promise<number> {
  const answer = await fetch(url, { method: 'POST', body: Buffer.alloc(bytes, 'x') });
  await answer.arrayBuffer();
  return answer.status;
}

async function ready(server: ServerProcess): Promise<number> {
  return (await fetch(`${server.origin}/readyz`)).status;
}

/** Sends bodies until one is rejected. Returns how many were stored. */
async function sendUntilFull(url: string, bytes: number): Promise<number> {
  for (let stored = 0; ; stored++) {
    const status = await capture(url, bytes);
    if (status === 503) return stored;
    if (status !== 200) throw new Error(`A full disk was answered ${status}.`);
  }
}

async function expectClearDataHelps(disk: SmallDisk, filledBy: 'captures' | 'another program'): Promise<void> {
  const server = await startOn(disk.forServer);
  const person = await signUp(server.origin);
  const { uid, url } = await person.createEndpoint();
  const other = await person.createEndpoint();
  await untilReserved(disk.dir);
  for (let nth = 0; nth < 80; nth++) expect(await capture(url, 100_000)).toBe(200);
  if (filledBy === 'captures') await sendUntilFull(url, 500_000);
  await disk.fill();
  await expect.poll(() => capture(url)).toBe(503);
  expect(await ready(server)).toBe(503);

  // The reserve is given up for work that frees space, and another program fills what is left of it.
  const created = await person.send('/api/endpoints', { method: 'POST', json: { name: 'x'.repeat(100) } });
  expect([201, 503]).toContain(created.status);
  const remove = async (path: string): Promise<number> => (await person.send(path, { method: 'DELETE' })).status;
  expect(await remove(`/api/endpoints/${uid}/requests/-1000000`)).toBe(204);
  expect(await remove(`/api/endpoints/${other.uid}`)).toBe(204);
  expect(await remove(`/api/endpoints/${uid}/requests`)).toBe(204);
  await disk.fill();

  await expect.poll(() => capture(url)).toBe(200);
  expect(await ready(server)).toBe(200);
  for (let nth = 0; nth < 20; nth++) expect(await capture(url, 25_000)).toBe(200);
  expect((await person.send('/api/logout', { method: 'POST' })).status).toBe(204);
  await expect.poll(server.output).toMatch(/The disk of the data folder is full/);
  expect(server.output()).not.toMatch(/cannot rollback|a call failed/);
  await disk.empty();
  await untilReserved(disk.dir);
  expect(await server.kill('SIGTERM')).toBe(0);
}

describe('a full disk', () => {
  test('filled by captures: Clear Data makes captures work again', async (context) =>
    expectClearDataHelps(await smallDisk(context), 'captures'));
  test('filled by another program: Clear Data makes captures work again', async (context) =>
    expectClearDataHelps(await smallDisk(context), 'another program'));

  test('a writing call gets 503 and never 500, and captures continue when there is room', async (context) => {
    const disk = await smallDisk(context);
    const server = await startOn(disk.forServer);
    const person = await signUp(server.origin);
    const { uid, url } = await person.createEndpoint();
    expect(await capture(url)).toBe(200);
    await untilReserved(disk.dir);
    await disk.fill();
    const report = {
      url: 'http://h/',
      method: 'POST',
      attempt: 1,
      status: 500,
      durationMs: 1,
      at: new Date().toISOString(),
      responseBody: 'x'.repeat(16_000),
    };
    const statuses = new Set<string>();
    for (let nth = 0; nth < 60; nth++) {
      const path = `/api/endpoints/${uid}/requests/-1000000/deliveries`;
      const answer = await person.send(path, { method: 'POST', json: report });
      statuses.add(`${answer.status} ${answer.headers.get('retry-after')}`);
    }
    expect([...statuses].filter((status) => status !== '201 null')).toEqual(['503 5']);
    expect(server.output()).not.toMatch(/cannot rollback|a call failed/);
    await disk.empty();
    await expect.poll(() => capture(url)).toBe(200);
    expect(await ready(server)).toBe(200);
  });

  test('kill -9 on a full disk: it restarts, nothing is lost, and Clear Data works', async (context) => {
    const disk = await smallDisk(context);
    const server = await startOn(disk.forServer);
    const person = await signUp(server.origin);
    const { uid, url } = await person.createEndpoint();
    await untilReserved(disk.dir);
    const stored = await sendUntilFull(url, 500_000);
    await disk.fill();
    await server.kill('SIGKILL');
    const child = await startServerProcess(SETTINGS, { ...disk.forServer, port: server.port, untilPath: '/healthz' });
    undo.push(() => child.stop());
    expect(await ready(child)).toBe(503);
    expect(await person.stored(uid)).toBe(stored);
    expect((await person.send(`/api/endpoints/${uid}/requests`, { method: 'DELETE' })).status).toBe(204);
    await expect.poll(() => capture(url)).toBe(200);
    expect(await ready(child)).toBe(200);
  });

  test.for([
    ['before it can be locked', 0],
    ['during a migration', 128 * 1024],
  ] as const)('%s: the server says so, and continues at the next start', async ([, free], context) => {
    const disk = await smallDisk(context);
    await disk.fill(free);
    await expect(startOn(disk.forServer)).rejects.toThrow(
      /The disk of the data folder \S+ is too full for the server to start\. .* Make room on it and start again\.\n$/,
    );
    await disk.empty();
    expect(await ready(await startOn(disk.forServer))).toBe(200);
  });
});

describe('database files that disappear at runtime', () => {
  const NEVER_AGAIN = /"file":"[^"]*creel\.db[^"]*","msg":"A file of the database was removed or replaced/g;

  async function startOnFolder(): Promise<{ server: ServerProcess; dataDir: string; url: string }> {
    const folder = await mkdtemp(join(tmpdir(), 'creel-files-'));
    undo.push(() => rm(folder, { recursive: true, force: true }));
    const dataDir = join(folder, 'data');
    await mkdir(dataDir);
    const server = await startOn({ dataDir });
    const { url } = await (await signUp(server.origin)).createEndpoint();
    expect(await capture(url)).toBe(200);
    return { server, dataDir, url };
  }

  test.each([
    ['the database is removed', (dataDir: string) => rm(join(dataDir, 'creel.db'))],
    ['its log is removed', (dataDir: string) => rm(join(dataDir, 'creel.db-wal'))],
    ['the folder is removed', (dataDir: string) => rm(dataDir, { recursive: true })],
    [
      'the database is replaced by a copy',
      async (dataDir: string) => {
        await copyFile(join(dataDir, 'creel.db'), join(dataDir, 'copy'));
        await rename(join(dataDir, 'copy'), join(dataDir, 'creel.db'));
      },
    ],
  ])('%s: captures are refused, and the log says it once', async (_what, remove) => {
    const { server, dataDir, url } = await startOnFolder();
    await remove(dataDir);
    await expect.poll(() => capture(url)).toBe(503);
    expect(await ready(server)).toBe(503);
    for (let nth = 0; nth < 20; nth++) expect(await capture(url)).toBe(503);
    expect(await server.kill('SIGTERM')).toBe(0);
    // The last lines are read after the server's answers.
    await expect.poll(() => server.output().match(NEVER_AGAIN)).toHaveLength(1);
  });

  test('the same file is put back: captures are stored again', async () => {
    const { server, dataDir, url } = await startOnFolder();
    await rename(join(dataDir, 'creel.db'), join(dataDir, 'aside'));
    await expect.poll(() => capture(url)).toBe(503);
    await rename(join(dataDir, 'aside'), join(dataDir, 'creel.db'));
    await expect.poll(() => capture(url)).toBe(200);
    expect(await ready(server)).toBe(200);
    await expect.poll(server.output).toMatch(/The files of the database are back/);
  });
});
