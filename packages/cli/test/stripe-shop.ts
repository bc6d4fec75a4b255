import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../../fixtures/free-port.ts';

export const STRIPE_SECRET = 'whsec_test_of_the_shop';

/** A program with Stripe's signature check, in its own process. */
export interface StripeShop {
  readonly url: string;
  readonly signal: (name: 'SIGSTOP' | 'SIGCONT') => void;
  /** Kills it, even while it handles a request. */
  readonly kill: () => Promise<void>;
  /** Starts it again on the same port. */
  readonly restart: () => Promise<void>;
  /** The ids of the accepted events, one per line. */
  readonly log: () => Promise<string>;
}

export async function startStripeShop(log: string): Promise<StripeShop> {
  const port = await freePort();
  const program = fileURLToPath(new URL('./stripe-shop.mjs', import.meta.url));
  let child: ChildProcess;
  const restart = async (): Promise<void> => {
    child = spawn(process.execPath, [program, String(port), log, STRIPE_SECRET], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (child.stdout !== null) await once(child.stdout, 'data');
  };
  await restart();
  return {
    url: `http://127.0.0.1:${port}`,
    signal: (name) => void child.kill(name),
    async kill() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
    restart,
    log: () => readFile(log, 'utf8').catch(() => ''),
  };
}
