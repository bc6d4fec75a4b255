import { spawnSync } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { basename } from 'node:path';

const CHRT_MS = 2000;

/**
 * Puts the calling thread behind everything else. On Linux, which schedules by thread, it becomes SCHED_IDLE: whatever wakes up takes
 * its core at once, where a thread of low priority keeps it until its slice of some milliseconds is over. Node has no call for that;
 * `chrt` is in every Linux but the barest, and where it is not, the priority is as low as it goes. Elsewhere nothing is changed.
 */
export function letOthersGoFirst(): void {
  const thread = ownThread();
  if (thread === undefined) return;
  const { status } = spawnSync('chrt', ['-i', '-p', '0', thread], { stdio: 'ignore', timeout: CHRT_MS });
  if (status !== 0) setPriority(Number(thread), constants.priority.PRIORITY_LOW);
}

/** The id that the system knows the calling thread by. */
function ownThread(): string | undefined {
  try {
    return basename(readlinkSync('/proc/thread-self'));
  } catch {
    return undefined;
  }
}
