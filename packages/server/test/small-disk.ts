import { execFileSync } from 'node:child_process';
import { mkdtemp, open, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system of a given size that a test may fill. */
export interface SmallDisk {
  readonly dir: string;
  readonly freeBytes: () => Promise<number>;
  /** Fills it, like another program would, except for this many bytes. */
  readonly fill: (leaveBytes?: number) => Promise<void>;
  /** Removes what `fill` wrote. */
  readonly empty: () => Promise<void>;
  readonly remove: () => Promise<void>;
}

const MIB = 1024 * 1024;

/** Mounts a tmpfs. Returns the reason when this user may not mount one. */
export async function mountSmallDisk(megabytes: number): Promise<SmallDisk | string> {
  const dir = await mkdtemp(join(tmpdir(), 'creel-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', dir], { stdio: 'pipe' });
  } catch (error) {
    await rm(dir, { recursive: true });
    return `No tmpfs can be mounted here: ${error instanceof Error ? error.message : String(error)}`;
  }
  const filler = join(dir, 'filler');
  const freeBytes = async (): Promise<number> => {
    const { bavail, bsize } = await statfs(dir);
    return bavail * bsize;
  };
  return {
    dir,
    freeBytes,
    async fill(leaveBytes = 0) {
      const file = await open(filler, 'a');
      try {
        for (let free = await freeBytes(); free > leaveBytes; free = await freeBytes())
          await file.write(Buffer.alloc(Math.min(MIB, free - leaveBytes), 1));
      } finally {
        await file.close();
      }
    },
    empty: () => rm(filler, { force: true }),
    async remove() {
      execFileSync('umount', ['-l', dir]);
      await rm(dir, { recursive: true });
    },
  };
}
