import { capturedRequestSchema, nextLink } from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';
import { afterEach, describe, expect, it } from 'vitest';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServerProcess } from '../server-process.ts';
import type { ServerProcess } from '../server-process.ts';
import { signUp } from '../sign-up.ts';
import type { LoggedIn } from '../sign-up.ts';
import { Senders, hashOf } from './ledger.ts';
import type { Entry } from './ledger.ts';

/** Number of kills; `KILLS=50` for a long run. */
const KILLS = Number(process.env['KILLS'] ?? 3);
const SENDERS = 64;

const running: ServerProcess[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

async function readAll(person: LoggedIn, uid: string): Promise<CapturedRequest[]> {
  const all: CapturedRequest[] = [];
  let next: string | undefined = `/api/endpoints/${uid}/temp-requests?limit=500`;
  while (next !== undefined) {
    const answer = await person.send(next);
    all.push(...capturedRequestSchema.array().parse(await answer.json()));
    next = nextLink(answer.headers.get('link'));
  }
  return all;
}

/**
 * Compares the senders' records with the stored captures: acknowledged but missing, stored twice, stored but never
 * sent.
 */
function compare(
  entries: readonly Entry[],
  stored: readonly CapturedRequest[],
): { lost: number[]; twice: number[]; strange: number[] } {
  const sent = new Map(entries.map((entry) => [entry.hash, entry]));
  const found = stored.map((request) => ({
    index: request.index,
    entry: sent.get(hashOf(Buffer.from(request.body ?? ''))),
  }));
  const indexById = new Map(found.map(({ entry, index }) => [entry?.id, index]));
  return {
    lost: entries
      .filter((entry) => entry.acknowledged !== undefined && indexById.get(entry.id) !== entry.acknowledged)
      .map((entry) => entry.id),
    twice: found.length === indexById.size ? [] : found.map(({ index }) => index),
    strange: found.filter(({ entry }) => entry === undefined).map(({ index }) => index),
  };
}

describe('kill -9 under load', () => {
  it(
    `loses nothing that was acknowledged and stores nothing twice, ${KILLS} times over`,
    async () => {
      const settings = { MAX_UNSAVED_PER_ENDPOINT: '10000000' };
      let server = await startServerProcess(settings);
      running.push(server);
      const { dataDir, port } = server;
      const person = await signUp(server.origin);
      const { uid, url } = await person.createEndpoint();
      const entries: Entry[] = [];
      let nextId = 0;
      for (let kill = 0; kill < KILLS; kill += 1) {
        const senders = new Senders(url, SENDERS, nextId);
        await expect.poll(() => senders.acknowledged.length).toBeGreaterThan(SENDERS);
        await sleep(Math.random() * 500);
        await server.kill('SIGKILL');
        await senders.stop();
        entries.push(...senders.entries);
        nextId = senders.nextId;
        server = await startServerProcess(settings, { dataDir, port });
        running.push(server);
      }
      const stored = await readAll(person, uid);
      const acknowledged = entries.filter((entry) => entry.acknowledged !== undefined).length;
      process.stdout.write(
        `${KILLS} kills, ${entries.length} sent, ${acknowledged} acknowledged, ${stored.length} stored\n`,
      );
      expect(compare(entries, stored)).toEqual({ lost: [], twice: [], strange: [] });
      expect(acknowledged).toBeGreaterThan(KILLS * SENDERS);
      expect(stored.length).toBeGreaterThanOrEqual(acknowledged);
      expect(await person.stored(uid)).toBe(stored.length);
    },
    120_000 + KILLS * 20_000,
  );
});
