import { setImmediate as nextTurn } from 'node:timers/promises';
import { sendUpdate, serveCalls } from '../src/workers/worker-server.ts';

const methods = {
  double: async (input: number) => input * 2,
  echo: async (bytes: Uint8Array) => bytes,
  fail: async (reason: string): Promise<never> => Promise.reject(new RangeError(reason)),
  notify: async (update: string) => sendUpdate(update),
  waitForAbort: (_input: undefined, signal: AbortSignal) =>
    new Promise<string>((resolve) => {
      const aborted = (): void => resolve('aborted');
      if (signal.aborted) aborted();
      else signal.addEventListener('abort', aborted);
    }),
  async doubleAfterTurns(input: number) {
    for (let turn = 0; turn < input; turn += 1) await nextTurn();
    return input * 2;
  },
  // Without an answer, because the thread may end before it is sent.
  crash: (_input: undefined) =>
    new Promise<never>(() => {
      setImmediate(() => {
        throw new Error('crashed');
      });
    }),
};

export type EchoMethods = typeof methods;

/** A worker for the tests of the RPC. */
serveCalls({ methods, errors: { encode: String } });
