import type { Logger } from '../../log.ts';
import type { DiskState, Store } from '../store.ts';

/** Parts of the disk in use at which the log warns, and how much less must be in use before it warns again. */
const WARN_AT = [0.9, 0.8];
const WARN_AGAIN_BELOW = 0.05;

/** Logs changes of the disk. Returns a function that reads the free bytes, if the database is in the data folder. */
export function watchDisk(store: Pick<Store, 'watchDisk'>, log: Logger): (() => number) | undefined {
  if (store.watchDisk === undefined) return undefined;
  let before: DiskState = { freeBytes: 0, usedShare: 0, isFull: false, missingFile: undefined };
  let warnedAt = 0;
  store.watchDisk((state) => {
    logChange(before, state, log);
    before = state;
    const { freeBytes, usedShare, isFull } = state;
    const reached = WARN_AT.find((share) => usedShare >= share) ?? 0;
    if (reached > warnedAt && !isFull)
      log.warn(
        { freeBytes },
        `The disk of the data folder is ${100 * reached}% full. When it is full, captures are answered with 503.`,
      );
    if (reached > warnedAt || usedShare < warnedAt - WARN_AGAIN_BELOW) warnedAt = reached;
  });
  return () => before.freeBytes;
}

function logChange(before: DiskState, { freeBytes, isFull, missingFile }: DiskState, log: Logger): void {
  if (isFull && !before.isFull)
    log.warn(
      { freeBytes },
      'The disk of the data folder is full: captures are answered with 503. Free space on it, or clear and delete endpoints.',
    );
  if (!isFull && before.isFull) log.info({ freeBytes }, 'The disk has room again: captures are stored.');
  if (missingFile !== undefined && before.missingFile === undefined)
    log.error(
      { file: missingFile },
      'A file of the database was removed or replaced while the server runs: nothing is stored any more, and captures are answered with 503. Put the same file back, or stop the server, restore a backup and start it again.',
    );
  if (missingFile === undefined && before.missingFile !== undefined)
    log.info('The files of the database are back: captures are stored.');
}
