import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { chunked, openRaw, rawRequest } from '../../../../../fixtures/raw-http.ts';
import { webhookFixtures } from '../../../../../fixtures/webhooks/all.ts';
import { toRawHttp } from '../../../../../fixtures/webhooks/webhook-fixture.ts';
import { makeDice } from '../../../../../fixtures/dice.ts';
import { mutate } from '../../../test/mutate.ts';
import { expectUnharmed, startWireApp } from '../../../test/wire-app.ts';

/** Thousands of slightly broken requests. `CREEL_MUTATIONS` sets how many, `CREEL_SEED` which. */
const COUNT = Number(process.env['CREEL_MUTATIONS'] ?? 2000);
const SEED = Number(process.env['CREEL_SEED'] ?? 20_261_121);
const AT_ONCE = 20;

const app = await startWireApp({ MAX_UNSAVED_PER_ENDPOINT: '1000000' });
const innocent = (await app.owner.createEndpoint()).uid;
afterAll(() => app.server.stop());

function seeds(): Buffer[] {
  const plain = (lines: string[], body: string | Buffer = ''): Buffer =>
    rawRequest([`POST ${app.base}/seed HTTP/1.1`, 'Host: h', ...lines], body);
  const small = webhookFixtures
    .filter(({ body }) => body.length < 20_000)
    .map((fixture) => toRawHttp(fixture, app.endpoint.url));
  const two = Buffer.concat([
    plain(['Content-Length: 2'], 'ab'),
    plain(['Transfer-Encoding: chunked'], chunked(Buffer.from('second'), 3)),
  ]);
  const inside = plain(['Content-Length: 0']).toString('latin1');
  return [
    ...small,
    plain(['Transfer-Encoding: chunked'], chunked(Buffer.from('some text in chunks'), 4)),
    plain([`Content-Length: ${inside.length}`], inside),
    plain(['Connection: Upgrade', 'Upgrade: h2c', 'Content-Length: 3'], 'abc'),
    plain(['Expect: 100-continue', 'Content-Length: 3'], 'abc'),
    plain(['Connection: close', 'Content-Length: 0']),
    two,
  ];
}

/** Sends the bytes, closes the sending side, and returns the acknowledged indices. */
async function inflict(bytes: Buffer): Promise<number[]> {
  const connection = await openRaw({ port: app.server.port }).catch((error: unknown) => {
    throw new Error(`Nobody listens any more. The server said:\n${app.server.output()}`, { cause: error });
  });
  connection.send(bytes).catch(() => {});
  await sleep(1); // lets most requests be read before the end of the connection
  connection.halfClose();
  const answers = await connection.closed().then(
    (received) => received.toString('latin1'),
    (error: unknown) => {
      throw new Error(`Hangs after ${JSON.stringify(bytes.toString('latin1').slice(0, 3000))}`, { cause: error });
    },
  );
  connection.close();
  expect(answers).not.toMatch(/^HTTP\/1\.1 5/m);
  return [...answers.matchAll(/^x-creel-request: (\d+)\r$/gim)].map((match) => Number(match[1]));
}

test(
  `${COUNT} mutated requests: no crash, no hang, nothing where it was not sent`,
  { timeout: 60_000 + COUNT * 50 },
  async () => {
    const dice = makeDice(SEED);
    const originals = seeds();
    const acknowledged: number[] = [];
    for (let sent = 0; sent < COUNT; sent += AT_ONCE) {
      const batch = Array.from({ length: AT_ONCE }, () => inflict(mutate(dice.pick(originals), dice)));
      acknowledged.push(...(await Promise.all(batch)).flat());
      if (sent % 400 === 0) await expectUnharmed(app);
    }
    await expectUnharmed(app);
    expect(new Set(acknowledged).size).toBe(acknowledged.length);
    expect(await app.owner.stored(innocent)).toBe(0);
    const stored = await app.owner.stored(app.endpoint.uid);
    expect(stored).toBeGreaterThanOrEqual(acknowledged.length);
    // One original holds two requests, another one inside its body, and there were canaries.
    expect(stored).toBeLessThanOrEqual(COUNT * 2 + COUNT / 400 + 2);
    for (const index of acknowledged.filter((_, at) => at % 50 === 0))
      expect((await app.owner.captured(app.endpoint.uid, index)).index).toBe(index);
  },
);
