import { afterAll, expect, test } from 'vitest';
import { openApiDocument } from '@creel/contract';
import { startTestServer } from '../test/test-server.ts';
import { VERSION } from './routes.ts';

const server = await startTestServer();
afterAll(() => server.stop());

test('the server describes its calls, under its own address', async () => {
  const answer = await server.visitor().send('/api/openapi.json');
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual(openApiDocument({ version: VERSION, url: server.origin }));
});
