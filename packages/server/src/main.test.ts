import { expect, onTestFinished, test } from 'vitest';
import { openRaw, rawRequest } from '../../../fixtures/raw-http.ts';
import { startServerProcess } from '../test/server-process.ts';

test('the first signal lets a request finish that is being sent, a second one ends the server', async () => {
  const server = await startServerProcess();
  onTestFinished(() => server.stop());
  using sender = await openRaw({ port: server.port });
  const head = ['POST /api/login HTTP/1.1', 'Host: h', 'Expect: 100-continue', 'Content-Length: 9'];
  await sender.send(rawRequest(head));
  // The server has begun to read the request.
  expect((await sender.next()).status).toBe(100);
  const exitCode = server.kill('SIGTERM', 30_000);
  const listens = (): Promise<boolean> =>
    fetch(server.origin).then(
      () => true,
      () => false,
    );
  await expect.poll(listens).toBe(false);
  await server.kill('SIGTERM');
  expect(await exitCode).toBe(1);
});
