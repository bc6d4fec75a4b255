import { expect, test } from 'vitest';
import { openMemoryStore } from '../../../test/memory-store.ts';
import { someEndpoint } from '../../../test/store-world.ts';
import { createLog } from '../../log.ts';
import { createSignatures } from './service.ts';

test('a start without the key of the stored secrets says so', async () => {
  const store = await openMemoryStore();
  const lines: string[] = [];
  const log = createLog('error', false, { write: (line: string) => void lines.push(line) });
  const signatures = await createSignatures(store, log, Date.now);
  const { id } = await someEndpoint(store);
  await signatures.setSecret(id, { scheme: 'github', secret: 'hush' });
  await createSignatures(store, log, Date.now);
  expect(lines).toEqual([]);
  await createSignatures({ ...store, findOrCreateSecret: async () => 'a new key' }, log, Date.now);
  expect(lines).toEqual([expect.stringContaining("The signing secrets of endpoints can't be decrypted")]);
  await store.close();
});
