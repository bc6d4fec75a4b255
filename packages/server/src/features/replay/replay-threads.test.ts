import { expect, onTestFinished, test } from 'vitest';
import { ReplayFailure, ThreadEnded } from './replay-failure.ts';
import { ReplayThreads } from './replay-threads.ts';

const file = new URL('../../../test/ending-replay-thread.ts', import.meta.url);

function startThreads() {
  const ended: unknown[] = [];
  const threads = new ReplayThreads({ file, onEnded: (error) => ended.push(error) });
  onTestFinished(() => threads.close());
  const send = (userId: number, path: string) => {
    const url = `http://127.0.0.1:9/${path}`;
    const rest = { method: 'GET', headers: [], body: new Uint8Array(), userAgent: '', allowPrivate: true, maxMs: 1000 };
    return threads.send({ userId, url, ...rest }, { signal: new AbortController().signal, transfer: [] });
  };
  return { send, ended, threads };
}

test('a request that ends its thread does not end requests of others again', async () => {
  const { send, ended } = startThreads();
  const hanging = send(2, 'hang');
  await Promise.all([
    expect(send(1, 'end')).rejects.toBeInstanceOf(ThreadEnded),
    expect(hanging).rejects.toBeInstanceOf(ThreadEnded),
  ]);
  await expect.poll(() => ended).toMatchObject([{ cause: { message: 'a bug of the sender' } }]);
  expect(await send(2, 'ok')).toMatchObject({ status: 200 });
  const isOver: string[] = [];
  void send(3, 'hang').then(
    () => isOver.push('answered'),
    () => isOver.push('ended'),
  );
  await expect(send(1, 'end')).rejects.toBeInstanceOf(ThreadEnded);
  await expect(send(1, 'end')).rejects.toBeInstanceOf(ReplayFailure);
  await expect(send(1, 'end')).rejects.toBeInstanceOf(ReplayFailure);
  await expect.poll(() => ended).toHaveLength(4);
  expect(await send(1, 'ok')).toMatchObject({ status: 200 });
  expect(isOver).toEqual([]);
});

test('a thread that is closed is not reported', async () => {
  const { send, ended, threads } = startThreads();
  expect(await send(1, 'ok')).toMatchObject({ status: 200 });
  await threads.close();
  expect(ended).toEqual([]);
});
