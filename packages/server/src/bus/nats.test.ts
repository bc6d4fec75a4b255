import { expect, onTestFinished, test } from 'vitest';
import { startNats } from '../../test/nats-server.ts';
import { NatsChannel, NatsLink } from './nats.ts';

test('the connection opens when the server comes up, with the credentials of the URL, and survives a restart', async () => {
  const first = await startNats({ user: 'creel', password: 'p@ss' });
  const { port, url } = first;
  await first.stop();
  const failures: unknown[] = [];
  const link = new NatsLink([url], (error) => failures.push(error));
  onTestFinished(() => link.close());
  await expect.poll(() => failures.length).toBe(1);
  expect(link.connection).toBeUndefined();
  const second = await startNats({ user: 'creel', password: 'p@ss', port });
  const connection = await link.ready;
  const heard: string[] = [];
  connection.subscribe('a', { callback: (_error, message) => void heard.push(message.string()) });
  connection.publish('a', 'one');
  await expect.poll(() => heard).toEqual(['one']);
  await second.stop();
  const third = await startNats({ user: 'creel', password: 'p@ss', port });
  await expect
    .poll(() => {
      connection.publish('a', 'two');
      return heard.at(-1);
    })
    .toBe('two');
  await third.stop();
});

test('a channel whose connection is closed rejects what is sent, and does not throw', async () => {
  const server = await startNats();
  onTestFinished(() => server.stop());
  const link = new NatsLink([server.url], () => undefined);
  const opened = Promise.withResolvers<void>();
  const channel = new NatsChannel(link, 'a', { onText: () => undefined, onOpen: opened.resolve });
  await opened.promise;
  await link.close();
  const sent = channel.send(['text']);
  await expect(sent).rejects.toThrow('closed connection');
});
