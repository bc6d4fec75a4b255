import { liveMessageSchema } from '@creel/contract';
import type { CapturedRequest, LiveMessage } from '@creel/contract';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { TestClient } from './test-client.ts';

/** A live view as a program sees it: all messages, in order, checked against the contract. */
export interface LiveViewer extends AsyncDisposable {
  readonly messages: readonly LiveMessage[];
  readonly socket: WebSocket;
  /**
   * Resolves when `is` holds for the messages so far. Rejects with a summary when the socket closes before that, or
   * after 30 s.
   */
  readonly until: (is: (messages: readonly LiveMessage[]) => boolean) => Promise<void>;
  /** The close code, after it closed. */
  readonly closed: Promise<number>;
  readonly close: () => Promise<void>;
}

/** As long as `expect.poll` waits. */
const PATIENCE_MS = 100_000;

/** Opens a live view with the cookies of `client`. @throws Error with the status when the upgrade is rejected */
export async function openLive(
  client: TestClient,
  uid: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<LiveViewer> {
  const cookie = client.jar.header();
  const socket = new WebSocket(`${client.origin.replace('http', 'ws')}/ws?endpoint=${uid}`, {
    headers: { ...(cookie === '' ? {} : { cookie }), ...headers },
  });
  const messages: LiveMessage[] = [];
  const mistakes: unknown[] = [];
  const looks = new Set<() => void>();
  const look = (): void => looks.forEach((each) => each());
  socket.on('message', (data) => {
    const parsed = liveMessageSchema.safeParse(JSON.parse(String(data)));
    if (parsed.success) messages.push(parsed.data);
    else mistakes.push(parsed.error);
    look();
  });
  let code: number | undefined;
  const closed = new Promise<number>((resolve) => {
    socket.on('close', (given) => {
      code = given;
      resolve(given);
      look();
    });
  });
  await opened(socket);

  const until: LiveViewer['until'] = (is) =>
    new Promise((resolve, reject) => {
      const stop = (end: () => void): void => {
        clearTimeout(timer);
        looks.delete(check);
        end();
      };
      const fail = (why: string): void =>
        stop(() => reject(new Error(`${why}. Received so far: ${summary(messages)}`)));
      const timer = setTimeout(() => fail('The expected messages did not arrive'), PATIENCE_MS);
      const check = (): void => {
        if (mistakes.length > 0) fail(`A frame does not fit the contract: ${String(mistakes[0])}`);
        else if (is(messages)) stop(resolve);
        else if (code !== undefined) fail(`The socket was closed with ${code}`);
      };
      looks.add(check);
      check();
    });
  const close = async (): Promise<void> => {
    socket.close();
    await closed;
  };
  return { messages, socket, until, closed, close, [Symbol.asyncDispose]: close };
}

async function opened(socket: WebSocket): Promise<void> {
  const refused = new Promise<never>((_resolve, reject) => {
    socket.on('error', reject);
    socket.on('unexpected-response', (_request, answer) => {
      answer.resume();
      reject(new Error(`refused with ${answer.statusCode}`));
    });
  });
  await Promise.race([once(socket, 'open'), refused]);
}

function summary(messages: readonly LiveMessage[]): string {
  return messages.map((message) => (message.type === 'request' ? message.data.index : message.type)).join(' ');
}

/** What a page shows after these messages, by index (docs/api.md, "Live"). */
export function shownAfter(messages: readonly LiveMessage[]): Map<number, CapturedRequest> {
  const shown = new Map<number, CapturedRequest>();
  for (const message of messages) {
    if (message.type === 'init' || message.type === 'clear') shown.clear();
    if (message.type === 'init') for (const request of message.data) shown.set(request.index, request);
    if (message.type === 'request') shown.set(message.data.index, message.data);
    if (message.type === 'saved') shown.set(message.data.request.index, message.data.request);
    if (message.type === 'deleted')
      for (const [index, request] of shown) if (request.id === message.data.id) shown.delete(index);
  }
  return shown;
}

/** The indexes of every message since the last `init`, including it, oldest first: each must be there once. */
export function toldIndexes(messages: readonly LiveMessage[]): number[] {
  const from = messages.findLastIndex((message) => message.type === 'init');
  return messages.slice(from).flatMap((message) => {
    if (message.type === 'init') return message.data.map((request) => request.index).toReversed();
    return message.type === 'request' ? [message.data.index] : [];
  });
}

/** For `until`: whether a page shows this request. Looks for its message first, because it is asked after every message. */
export function shows(index: number): (messages: readonly LiveMessage[]) => boolean {
  const isOf = (message: LiveMessage): boolean => {
    if (message.type === 'init') return message.data.some((request) => request.index === index);
    if (message.type === 'saved') return message.data.request.index === index;
    return message.type === 'request' && message.data.index === index;
  };
  return (messages) => messages.some(isOf) && shownAfter(messages).has(index);
}
