import { deliveryAttemptSchema, destinationSchema } from '@creel/contract';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { listenLocally } from '../../../../fixtures/listen-locally.ts';
import { startServerProcess } from '../server-process.ts';
import type { ServerProcess } from '../server-process.ts';
import { signUp } from '../sign-up.ts';
import { ENGINES, settingsOf } from '../test-server.ts';

/** Number of captures; `FORWARDS=1000` for a long run. */
const FORWARDS = Number(process.env['FORWARDS'] ?? 40);
const KILLS = 3;
/** Milliseconds until the target answers, so that a kill interrupts deliveries. */
const ANSWER_MS = 20;

const running: ServerProcess[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

/**
 * A target that fails every second time for each request, beginning with half of them, and can be restarted. So few
 * failures are in a row, and it is not paused. Remembers what it answered.
 */
class FlakyTarget {
  readonly accepted = new Map<string, number>();
  readonly answered: { readonly deliveryId: string; readonly attempt: number; readonly status: number }[] = [];
  readonly #arrivals = new Map<string, number>();
  #server: Server | undefined;

  async start(port = 0): Promise<number> {
    this.#server = createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        const body = Buffer.concat(pieces).toString();
        const arrivals = (this.#arrivals.get(body) ?? 0) + 1;
        this.#arrivals.set(body, arrivals);
        const status = (arrivals + Number(body.split('-')[1])) % 2 === 1 ? 500 : 200;
        if (status === 200) this.accepted.set(body, (this.accepted.get(body) ?? 0) + 1);
        const deliveryId = String(request.headers['creel-delivery']);
        this.answered.push({ deliveryId, attempt: Number(request.headers['creel-attempt']), status });
        setTimeout(() => response.writeHead(status).end(), ANSWER_MS);
      });
    });
    return listenLocally(this.#server, { port });
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((resolve) => this.#server?.close(resolve));
  }
}

test.each(ENGINES)(
  `${FORWARDS} captures reach a target that fails and restarts, while the server is killed ${KILLS} times, on %s`,
  async (engine) => {
    const target = new FlakyTarget();
    const targetPort = await target.start();
    const settings = await settingsOf(engine);
    let server = await startServerProcess(settings);
    running.push(server);
    const { dataDir, port } = server;
    const person = await signUp(server.origin);
    const { uid, url } = await person.createEndpoint();
    const path = `/api/endpoints/${uid}/destinations`;
    const json = { url: `http://127.0.0.1:${targetPort}/` };
    const created = destinationSchema.parse(await (await person.send(path, { method: 'POST', json })).json());
    const acknowledged: { readonly body: string; readonly index: number }[] = [];
    const steps = KILLS + 1;
    for (let step = 0; step < steps; step += 1) {
      const count = Math.floor((FORWARDS * (step + 1)) / steps) - Math.floor((FORWARDS * step) / steps);
      const sentBefore = target.answered.length;
      await Promise.all(
        Array.from({ length: count }, async (_, nth) => {
          const body = `${step}-${nth}`;
          const answer = await fetch(url, { method: 'POST', body });
          await answer.arrayBuffer();
          if (answer.status === 200) acknowledged.push({ body, index: Number(answer.headers.get('x-creel-request')) });
        }),
      );
      if (step === KILLS) break;
      // The first kill comes while deliveries are planned, the others while they are sent.
      await sleep(step === 0 ? Math.random() * 200 : 0);
      const wanted = step === 0 ? 0 : sentBefore + 1;
      await expect.poll(() => target.answered.length, { interval: 5 }).toBeGreaterThanOrEqual(wanted);
      await server.kill('SIGKILL');
      if (step < 2) {
        await target.stop();
        await target.start(targetPort);
      }
      server = await startServerProcess(settings, { dataDir, port });
      running.push(server);
    }
    expect(acknowledged).toHaveLength(FORWARDS);
    // Failed attempts wait for 5 s or more: pausing and resuming makes them due at once.
    const resume = async (): Promise<number> => {
      for (const enabled of [false, true])
        await person.send(`${path}/${created.id}`, { method: 'PATCH', json: { enabled } });
      await sleep(1000);
      const [destination] = destinationSchema.array().parse(await (await person.send(path)).json());
      return destination?.pending ?? Number.NaN;
    };
    await expect.poll(resume, { timeout: 60_000 + FORWARDS * 50 }).toBe(0);
    expect(acknowledged.filter(({ body }) => !target.accepted.has(body))).toEqual([]);
    await expectTrueHistory(person, uid, acknowledged, target);
    await target.stop();
  },
  300_000 + FORWARDS * 100,
);

/** Every stored attempt with a status was answered like that, and the last one of each request is a success. */
async function expectTrueHistory(
  person: Awaited<ReturnType<typeof signUp>>,
  uid: string,
  captures: readonly { readonly index: number }[],
  target: FlakyTarget,
): Promise<void> {
  const answers = new Set(target.answered.map((one) => `${one.deliveryId} ${one.attempt} ${one.status}`));
  const untrue: unknown[] = [];
  for (const { index } of captures) {
    const answer = await person.send(`/api/endpoints/${uid}/requests/${-(1_000_000 + index)}/deliveries`);
    const attempts = deliveryAttemptSchema.array().parse(await answer.json());
    if (attempts[0]?.status !== 200) untrue.push({ index, attempts });
    for (const { deliveryId, attempt, status } of attempts)
      if (status !== null && !answers.has(`${deliveryId} ${attempt} ${status}`)) untrue.push({ index, attempt });
  }
  expect(untrue).toEqual([]);
}
