// File systems of their own for the data of engines, so that one can be full. Mounting needs root.
import { execFileSync } from 'node:child_process';
import { statfsSync } from 'node:fs';

const DISK_MIB = 2_048;

const run = (command: string, ...args: string[]): void =>
  void execFileSync(command, args, { stdio: 'pipe' });

const resize = (dir: string, kib: number): void => run('mount', '-o', `remount,size=${kib}k`, dir);

/**
 * Small file systems of their own for the data of Kafka and Redis, which can be full; `missing`
 * says why there are none.
 */
export function mountDisks(dirs: string[]) {
  const mounted: string[] = [];
  const close = (): void => {
    // Lazily: a process that is about to end may still have a file open.
    for (const dir of mounted) run('umount', '-l', dir);
  };
  try {
    for (const dir of dirs) {
      run('mount', '-t', 'tmpfs', '-o', `size=${DISK_MIB}m`, 'none', dir);
      mounted.push(dir);
    }
    return { missing: undefined, close };
  } catch (error) {
    close();
    const { stderr } = error as { stderr?: Buffer };
    return { missing: `mount: ${String(stderr ?? error).trim()}`, close: () => undefined };
  }
}

/** Shrinks a disk to its used size; returns how to restore its size. */
export function fillDisk(dir: string): () => void {
  const { blocks, bfree, bsize } = statfsSync(dir);
  resize(dir, ((blocks - bfree) * bsize) / 1024);
  return () => resize(dir, DISK_MIB * 1024);
}
