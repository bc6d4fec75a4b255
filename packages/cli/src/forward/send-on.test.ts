import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { capturedAt } from '../testing/captured-at.ts';
import { sendOn } from './send-on.ts';

test('an answer that never ends has its time, and then the next capture has its turn', async () => {
  const server = createServer((_request, response) => {
    const more = setInterval(() => response.write('x'), 10);
    response.on('close', () => clearInterval(more));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = new URL(`http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/`);
  const outcome = await sendOn(url, capturedAt(1), Buffer.from('x'), new AbortController().signal, 200);
  expect(outcome).toMatchObject({ kind: 'answered', status: 200 });
  await new Promise((resolve) => server.close(resolve));
});
