import { expect, test } from 'vitest';
import { createLog } from '../../log.ts';
import type { DiskState } from '../store.ts';
import { watchDisk } from './disk-log.ts';

test('a disk that fills up is logged at 80% and 90%, and again only after it had clearly more room', () => {
  const shares = [0.5, 0.79, 0.8, 0.85, 0.79, 0.81, 0.9, 0.89, 0.91, 0.84, 0.9, 0.5, 0.95];
  let text = '';
  const log = createLog('debug', false, { write: (line: string) => void (text += line) });
  const report = (onState: (state: DiskState) => void): void =>
    shares.forEach((usedShare) => onState({ freeBytes: 1, usedShare, isFull: false, missingFile: undefined }));
  watchDisk({ watchDisk: report }, log);
  expect(text.match(/\d+% full/g)).toEqual(['80% full', '90% full', '90% full', '90% full']);
});
