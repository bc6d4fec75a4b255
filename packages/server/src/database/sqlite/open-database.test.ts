import { fsyncSync, mkdirSync, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { claimDataDir } from './open-database.ts';

vi.mock('node:fs', { spy: true });

test('a new data folder survives a power cut, with each new folder above it', async () => {
  const existing = await mkdtemp(join(tmpdir(), 'creel-folder-'));
  try {
    claimDataDir(join(existing, 'above', 'data')).close();
    const made = vi.mocked(mkdirSync).mock.calls.map(([folder]) => String(folder));
    expect(made).toEqual([join(existing, 'above'), join(existing, 'above', 'data')]);
    expect(syncedFolders()).toEqual(made.map((folder) => dirname(folder)));
  } finally {
    await rm(existing, { recursive: true, force: true });
  }
});

/** The paths of the calls to `fsync`. Each one is the path that was opened last, because nothing is opened in between. */
function syncedFolders(): string[] {
  const opened = vi.mocked(openSync);
  return vi.mocked(fsyncSync).mock.invocationCallOrder.map((order) => {
    const last = opened.mock.invocationCallOrder.findLastIndex((earlier) => earlier < order);
    return String(opened.mock.calls[last]?.[0]);
  });
}
