import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** A file system of a given size that a test may fill. */
export type SmallDisk = ReturnType<typeof smallDisk>;

const MIB = 1024 * 1024;

/** In a user namespace, ordinary users may mount. Where the system has none, root mounts in a mount namespace alone. */
const NAMESPACES = [
  { unshare: ['-U', '-r', '-m'], enter: ['-U', '--preserve-credentials', '-m'] },
  { unshare: ['-m'], enter: ['-m'] },
] as const;

/** Mounts a tmpfs in a mount namespace. Returns the reasons when this user may not mount one. */
export async function mountSmallDisk(megabytes: number): Promise<SmallDisk | string> {
  const mountPoint = await mkdtemp(join(tmpdir(), 'creel-disk-'));
  const reasons: string[] = [];
  for (const { unshare, enter } of NAMESPACES) {
    const holder = await holdMount(unshare, mountPoint, megabytes);
    if (typeof holder === 'string') reasons.push(holder);
    else return smallDisk(holder, mountPoint, enter);
  }
  await rm(mountPoint, { recursive: true });
  return `No tmpfs can be mounted here: ${reasons.join(' ')}`;
}

/** Starts a process that keeps the namespace until its standard input ends. Returns the reason when it can't mount. */
async function holdMount(
  unshare: readonly string[],
  mountPoint: string,
  megabytes: number,
): Promise<ChildProcess | string> {
  const script = 'mount -t tmpfs -o "size=$1m" tmpfs "$2" && echo mounted && exec cat';
  const holder = spawn('unshare', [...unshare, 'sh', '-c', script, 'sh', String(megabytes), mountPoint]);
  const failed = new Promise<string>((resolve) => {
    holder.once('error', ({ message }) => resolve(message));
    holder.once('spawn', () => resolve(text(holder.stderr)));
  });
  const reason = await Promise.race([once(holder.stdout, 'data'), failed]);
  return typeof reason === 'string' ? reason.trim() : holder;
}

function smallDisk(holder: ChildProcess, mountPoint: string, enter: readonly string[]) {
  // SQLite would follow this link to a folder outside of the namespace, so servers enter the namespace instead.
  const dir = `/proc/${holder.pid}/root${mountPoint}`;
  const filler = join(dir, 'filler');
  const freeBytes = async (): Promise<number> => {
    const { bavail, bsize } = await statfs(dir);
    return bavail * bsize;
  };
  return {
    /** Its path for the test. */
    dir,
    /** Its path for a server, and the command that starts a server that sees it. */
    forServer: { dataDir: mountPoint, launcher: ['nsenter', ...enter, '-t', String(holder.pid), '--'] },
    freeBytes,
    /** Fills it, like another program would, except for this many bytes. */
    async fill(leaveBytes = 0): Promise<void> {
      await using file = await open(filler, 'a');
      for (let free = await freeBytes(); free > leaveBytes; free = await freeBytes())
        await file.write(Buffer.alloc(Math.min(MIB, free - leaveBytes), 1));
    },
    /** Removes what `fill` wrote. */
    empty: () => rm(filler, { force: true }),
    async remove(): Promise<void> {
      const ended = once(holder, 'exit');
      holder.stdin?.end();
      await ended;
      await rm(mountPoint, { recursive: true });
    },
  };
}
