import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../../fixtures/free-port.ts';
import { hasWritten, startProgram } from '../../../fixtures/start-program.ts';

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
  const args = [fileURLToPath(new URL('./stripe-shop.mjs', import.meta.url)), String(port), log, STRIPE_SECRET];
  const start = () => startProgram(process.execPath, args, { isReady: hasWritten('ready') });
  let program = await start();
  return {
    url: `http://127.0.0.1:${port}`,
    signal: (name) => void process.kill(program.pid, name),
    kill: async () => void (await program.kill('SIGKILL')),
    restart: async () => void (program = await start()),
    log: () => readFile(log, 'utf8').catch(() => ''),
  };
}
