import { expect, test } from 'vitest';
import { durabilityProblem } from './session.ts';
import type { DurabilitySettings } from './session.ts';

const good: DurabilitySettings = {
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  server_encoding: 'UTF8',
  server_version_num: '140000',
  in_recovery: false,
};

test.each(['on', 'local', 'remote_write', 'remote_apply'])('synchronous_commit=%s waits for the disk', (level) => {
  expect(durabilityProblem({ ...good, synchronous_commit: level })).toBeUndefined();
});

test.each<[Partial<DurabilitySettings>, string]>([
  [{ fsync: 'off' }, 'fsync=off: a power cut could lose requests that were acknowledged. Set fsync to on.'],
  [{ full_page_writes: 'off' }, 'full_page_writes=off: a power cut could lose'],
  [{ synchronous_commit: 'off' }, 'synchronous_commit=off: a power cut could lose'],
  [{ synchronous_commit: 'something new' }, 'synchronous_commit=something new'],
  [{ server_encoding: 'LATIN1' }, 'encoding LATIN1. Create one with UTF8.'],
  [{ server_version_num: '130011' }, 'older than version 14'],
  [{ in_recovery: true }, 'is a standby and takes no writes'],
])('%j is refused', (change, sentence) => {
  expect(durabilityProblem({ ...good, ...change })).toContain(sentence);
});
