import fs from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { claimDataDir } from './open-database.ts';

test('a new data folder survives a power cut, with each new folder above it', async () => {
  const existing = await mkdtemp(join(tmpdir(), 'creel-folder-'));
  const { openSync, fsyncSync } = fs;
  const pathOf = new Map<number, fs.PathLike>();
  const synced: (fs.PathLike | undefined)[] = [];
  vi.spyOn(fs, 'openSync').mockImplementation((path, ...rest) => {
    const descriptor = openSync(path, ...rest);
    pathOf.set(descriptor, path);
    return descriptor;
  });
  vi.spyOn(fs, 'fsyncSync').mockImplementation((descriptor) => {
    fsyncSync(descriptor);
    synced.push(pathOf.get(descriptor));
  });
  // Named imports of other modules get the replaced functions, too.
  syncBuiltinESMExports();
  try {
    claimDataDir(join(existing, 'above', 'data')).close();
    expect(synced).toEqual([existing, join(existing, 'above')]);
  } finally {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
    await rm(existing, { recursive: true, force: true });
  }
});
