// The lock of a journal: a socket in the file system on which its process listens. The kernel
// closes it when the process has died, in whatever way, and not before the last of its threads has
// stopped. Process numbers would not do: a restarted container counts from 1 again.
import { rename, rm, stat } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';

/** The kernel's limit for the path of a socket is 107 bytes; macOS allows 103. */
const PATH_BYTES_MAX = 103;
const PROBE_LIMIT_MS = 1_000;

type LockState = 'held' | 'released' | 'missing';

/**
 * Takes the lock, which ends with the process or with `close`; its file stays. Does not keep the
 * process alive.
 */
export async function takeLock(path: string): Promise<Server> {
  const opened_as = `${path}.new`;
  if (Buffer.byteLength(opened_as) > PATH_BYTES_MAX) {
    throw new Error(`the path of a lock has more than ${PATH_BYTES_MAX} bytes: ${opened_as}`);
  }
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(opened_as, resolve);
  });
  // An error while a probe is accepted: the lock is held all the same.
  server.on('error', () => undefined);
  server.unref();
  // A process that exits removes its sockets by the paths that it opened. This one shows that it is
  // dead.
  await rename(opened_as, path).catch(async (error: unknown) => {
    server.close();
    await rm(opened_as, { force: true });
    throw error;
  });
  return server;
}

/** `released`: its process is dead. Anything that is not certain counts as `held`. */
export async function stateOf(path: string): Promise<LockState> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => error.code ?? '');
  if (found === 'ENOENT') return 'missing';
  // The kernel also refuses a connection to a file that is no socket.
  if (typeof found === 'string' || !found.isSocket()) return 'held';
  return new Promise((resolve) => {
    const socket = connect(path);
    const end = (state: LockState): void => {
      socket.destroy();
      resolve(state);
    };
    socket.setTimeout(PROBE_LIMIT_MS, () => end('held'));
    socket.once('connect', () => end('held'));
    socket.once('error', ({ code }: NodeJS.ErrnoException) =>
      end(code === 'ECONNREFUSED' ? 'released' : 'held'),
    );
  });
}
