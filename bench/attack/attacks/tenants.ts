import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { AnswerCount, inParallel, open, writeUntil } from '../sockets.ts';
import type { Attack } from './attack.ts';

const SECONDS = 12;

/** One user's senders: each keeps `ahead` requests in flight, so that far more is sent than the machine can store. */
function tenantFlood(name: string, bodyBytes: number, connections: number, ahead: number): Attack {
  const size = bodyBytes >= 1024 * 1024 ? `${bodyBytes / 1024 / 1024} MiB` : `${bodyBytes / 1024} KiB`;
  return {
    name,
    what: `${connections} connections × ${ahead} captures of ${size} ahead, one endpoint`,
    neighborP99Ms: 100,
    maxSeconds: SECONDS + 10,
    async run(target, answers) {
      const head = `POST ${target.capturePath} HTTP/1.1\r\nHost: h\r\nContent-Length: ${bodyBytes}\r\n\r\n`;
      const one = Buffer.concat([Buffer.from(head), Buffer.alloc(bodyBytes, 'x')]);
      const block = Buffer.concat(Array.from({ length: ahead }, () => one));
      const until = performance.now() + SECONDS * 1000;
      await inParallel(connections, connections, async () => {
        while (performance.now() < until) {
          const socket = await open(target, { answers });
          if (socket === undefined) await sleep(10);
          else await keepAhead(socket, block, ahead, until);
        }
      });
    },
  };
}

/** Sends blocks of `ahead` requests until the time is up or the server closes. Waits while two blocks are unanswered. */
async function keepAhead(socket: Socket, block: Buffer, ahead: number, until: number): Promise<void> {
  const own = new AnswerCount();
  own.follow(socket);
  const mayGoOn = (): boolean => performance.now() < until && !socket.destroyed;
  for (let sent = ahead; mayGoOn(); sent += ahead) {
    if (!(await writeUntil(socket, block, until))) break;
    while (mayGoOn() && sent - own.total >= 2 * ahead) await sleep(2);
  }
  socket.destroy();
}

export const tenantFloods: readonly Attack[] = [
  tenantFlood('tenant-small', 2 * 1024, 256, 8),
  tenantFlood('tenant-small-many', 2 * 1024, 2000, 4),
  tenantFlood('tenant-medium', 100 * 1024, 64, 4),
  tenantFlood('tenant-large', 5 * 1024 * 1024, 64, 1),
];
