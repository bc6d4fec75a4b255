import { replayHeaderLines, targetOf } from '@creel/contract';
import type { CapturedRequest } from '@creel/contract';
import { request as openPlain } from 'node:http';
import type { ClientRequest } from 'node:http';
import { request as openSecure } from 'node:https';
import { VERSION } from '../version.ts';
import { pathAt } from './destination.ts';

/** What became of a capture that was sent on. `unreached`: nothing of it was sent, so that it can be tried again without sending it twice. */
export type Outcome =
  | { readonly kind: 'answered'; readonly status: number; readonly durationMs: number }
  | { readonly kind: 'unreached' | 'unanswered'; readonly reason: string };

/** The destination has this long for a whole answer; behind one that never comes to its end, others wait. */
const MOST_MS = 60_000;

/**
 * Sends a capture on, as it came: method, target, headers in their case, order and number, and the exact body. Follows no redirect.
 * `signal` gives it up.
 */
export function sendOn(
  destination: URL,
  request: CapturedRequest,
  body: Uint8Array,
  signal: AbortSignal,
  mostMs = MOST_MS,
): Promise<Outcome> {
  const began = performance.now();
  const { method, rawHeaders } = request;
  const head = { method, authority: destination.host, headers: rawHeaders, userAgent: `creel/${VERSION}` };
  const open = destination.protocol === 'https:' ? openSecure : openPlain;
  const call = open(destination, {
    method,
    path: pathAt(destination, targetOf(request)),
    headers: replayHeaderLines({ ...head, bodyBytes: body.length }).flat(),
    setHost: false,
    agent: false,
  });
  const giveUp = (): void => void call.destroy(new Error('it was given up'));
  const timer = setTimeout(() => call.destroy(new Error(`no answer within ${mostMs / 1000} s`)), mostMs);
  signal.addEventListener('abort', giveUp, { once: true });
  const outcome = outcomeOf(call, began).finally(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
    call.destroy();
  });
  call.end(body);
  return outcome;
}

function outcomeOf(call: ClientRequest, began: number): Promise<Outcome> {
  return new Promise((resolve) => {
    let isConnected = false;
    let isAnswered = false;
    // Before TLS stands nothing of the message is sent.
    const ready = call.protocol === 'https:' ? 'secureConnect' : 'connect';
    call.on('socket', (socket) => socket.once(ready, () => (isConnected = true)));
    call.on('response', (answer) => {
      isAnswered = true;
      // Read to its end and dropped: the program behind the destination is to write it in peace.
      answer.on('error', () => undefined);
      answer.resume();
      answer.once('close', () =>
        resolve({ kind: 'answered', status: answer.statusCode ?? 0, durationMs: performance.now() - began }),
      );
    });
    const fail = (error?: Error): void => {
      if (!isAnswered) resolve({ kind: isConnected ? 'unanswered' : 'unreached', reason: reasonOf(error) });
    };
    call.on('error', fail);
    call.on('upgrade', (_answer, socket) => {
      socket.destroy();
      fail(new Error('it switched to another protocol'));
    });
    call.on('close', () => fail());
  });
}

function reasonOf(error: Error | undefined): string {
  if (error === undefined) return 'the connection was closed without an answer';
  const [first = error] = error instanceof AggregateError ? error.errors : [];
  if (!(first instanceof Error)) return 'it could not be reached';
  const code = 'code' in first ? String(first.code) : '';
  if (code === 'ECONNREFUSED') return 'nothing listens there';
  if (code === 'ENOTFOUND') return 'its name has no address';
  if (code === 'ECONNRESET') return 'the connection was closed without an answer';
  if (/CERT|SIGNATURE|ISSUER|ALTNAME/.test(code)) return `its certificate is not trusted here: ${code}`;
  return code === '' ? first.message : code;
}
