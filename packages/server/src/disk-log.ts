import type { Logger } from './log.ts';
import type { DiskState, Store } from './database/store.ts';

/**
 * Logs each change of the disk's state, with what the operator can do. Returns a function that reads the free bytes, or
 * `undefined` if the database is not in the data folder.
 */
export function watchDisk(store: Pick<Store, 'watchDisk'>, log: Logger): (() => number) | undefined {
  if (store.watchDisk === undefined) return undefined;
  let before: DiskState = { freeBytes: 0, isFull: false, missingFile: undefined };
  store.watchDisk((state) => {
    logChange(before, state, log);
    before = state;
  });
  return () => before.freeBytes;
}

function logChange(before: DiskState, { freeBytes, isFull, missingFile }: DiskState, log: Logger): void {
  if (isFull && !before.isFull)
    log.warn(
      { freeBytes },
      'The disk of the data folder is full: captures are answered 503. Free space on it, or clear and delete endpoints.',
    );
  if (!isFull && before.isFull) log.info({ freeBytes }, 'The disk has room again: captures are stored.');
  if (missingFile !== undefined && before.missingFile === undefined)
    log.error(
      { file: missingFile },
      'A file of the database was removed or replaced while the server runs: nothing is stored any more, and captures are answered 503. Put the same file back, or stop the server, restore a backup and start it again.',
    );
  if (missingFile === undefined && before.missingFile !== undefined)
    log.info('The files of the database are back: captures are stored.');
}
