// Stores a file on disk on its way from a partner to the upstream, so that only complete files are
// sent: the length is known (header samples need it), a sticker can be inspected, a broken source
// leaves no half file upstream, and a slow one holds no upstream connection. The cost is one write
// and one read of the disk.
import { randomUUID } from 'node:crypto';
import { open, unlink, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { integer } from '../config/fields';
import { ApiError } from '../errors';
import { createTransfers } from '../overload';

export interface SpooledFile {
  size_bytes: number;
  /** The first bytes of the file, for inspection. */
  head: Buffer;
  /** The bytes, from the beginning. */
  chunks(): AsyncIterable<Uint8Array>;
  /** Frees the disk space. Must always be called. */
  close(): Promise<void>;
}

type Source = AsyncIterable<Buffer> & { destroy?(): unknown };

const HEAD_BYTES = 64;
const READ_CHUNK_BYTES = 128 * 1024;
const LARGEST_BYTES = 100 * 1024 * 1024;
/** Error codes of a full disk or of too many open files. */
const NO_ROOM: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE']);

export function createSpool(
  limit_bytes: number,
  folder: string = tmpdir(),
  share_bytes: number = Math.max(limit_bytes / 2, LARGEST_BYTES),
) {
  const space = createSpoolSpace(limit_bytes, share_bytes);
  return {
    /** Disk space in use. */
    used: space.used,
    /**
     * Reads the whole source for a partner; rethrows the source's errors. It is opened once there
     * is room for it: a file that is refused costs no connection. The signal is aborted when the
     * file loses its place.
     */
    async take(
      openSource: (signal: AbortSignal) => Promise<Source>,
      partner_id: string,
    ): Promise<SpooledFile> {
      let source: Source | undefined;
      const evicted = new AbortController();
      const place = space.enter(partner_id, (reason) => {
        evicted.abort(reason);
        source?.destroy?.();
      });
      let handle: FileHandle | undefined;
      let closed = false;
      const close = async (): Promise<void> => {
        if (closed) return;
        closed = true;
        place.leave();
        await handle?.close();
      };
      try {
        const file = (handle = await openNameless(folder));
        let size_bytes = 0;
        let head = Buffer.alloc(0);
        source = await openSource(evicted.signal);
        // Must be read at once: an error of a stream that is not read yet would end the process.
        evicted.signal.throwIfAborted();
        for await (const chunk of source) {
          place.reserve(chunk.length);
          size_bytes += chunk.length;
          if (head.length < HEAD_BYTES) head = Buffer.concat([head, chunk]).subarray(0, HEAD_BYTES);
          await writeAll(file, chunk);
        }
        place.arrived();
        // Copied, because a part would keep the whole chunk in memory.
        return { size_bytes, head: Buffer.from(head), chunks: () => read(file, size_bytes), close };
      } catch (error) {
        await close();
        if (NO_ROOM.has((error as { code?: unknown } | null)?.code)) throw noRoom(error);
        throw evicted.signal.reason ?? error;
      } finally {
        source?.destroy?.();
      }
    },
  };
}

/** Unlinked as soon as it is open, so that a crash leaves no file behind. */
async function openNameless(folder: string): Promise<FileHandle> {
  const path = join(folder, `bmg-${randomUUID()}`);
  const handle = await open(path, 'wx+', 0o600);
  await unlink(path);
  return handle;
}

async function writeAll(handle: FileHandle, chunk: Buffer): Promise<void> {
  for (let written = 0; written < chunk.length;) {
    written += (await handle.write(chunk, written)).bytesWritten;
  }
}

async function* read(handle: FileHandle, size_bytes: number): AsyncGenerator<Uint8Array> {
  for (let position = 0; position < size_bytes;) {
    const length = Math.min(READ_CHUNK_BYTES, size_bytes - position);
    // A new buffer each time: the previous one may still wait in a socket.
    const { bytesRead, buffer } = await handle.read(
      Buffer.allocUnsafe(length),
      0,
      length,
      position,
    );
    if (bytesRead === 0) throw new Error('the spooled file ends early');
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

interface Used {
  files: number;
  bytes: number;
}

const FILES_MAX = 256;
/** Files of one partner, which may also fill half of the disk space, and at least one largest file. */
export const FILES_OF_PARTNER = FILES_MAX / 8;
const RETRY_AFTER_S = 5;

/**
 * The disk space that files take: a bound on their number and bytes, and a share of both for each
 * partner. A file that arrives slowly makes room for others.
 */
function createSpoolSpace(limit_bytes: number, share_bytes: number) {
  const all: Used = { files: 0, bytes: 0 };
  const partners = new Map<string, Used>();
  const arriving = createTransfers();
  const makeRoom = (isFull: () => boolean, partner_id?: string): void => {
    while (isFull()) if (!arriving.evictSlowest(partner_id)) throw noRoom();
  };
  return {
    used: (): Used => ({ ...all }),
    /** Throws when no room is left. `onEvicted` is called when the file has lost its place. */
    enter(partner_id: string, onEvicted: (reason: ApiError) => void) {
      const own = partners.get(partner_id) ?? { files: 0, bytes: 0 };
      makeRoom(() => own.files >= FILES_OF_PARTNER, partner_id);
      makeRoom(() => all.files >= FILES_MAX);
      partners.set(partner_id, own);
      for (const used of [all, own]) used.files += 1;
      let held_bytes = 0;
      let isHere = true;
      const leave = (): void => {
        if (!isHere) return;
        isHere = false;
        arrival.end();
        for (const used of [all, own]) {
          used.files -= 1;
          used.bytes -= held_bytes;
        }
        if (own.files === 0) partners.delete(partner_id);
      };
      const arrival = arriving.begin(partner_id, () => {
        leave();
        onEvicted(tooSlow());
      });
      return {
        /** Throws when no room is left. */
        reserve(bytes: number): void {
          makeRoom(() => isHere && own.bytes + bytes > share_bytes, partner_id);
          makeRoom(() => isHere && all.bytes + bytes > limit_bytes);
          // The slowest file may be this one.
          if (!isHere) throw tooSlow();
          held_bytes += bytes;
          for (const used of [all, own]) used.bytes += bytes;
          arrival.moved(bytes);
        },
        /** Marks the file as complete: it can no longer be evicted. */
        arrived: arrival.end,
        leave,
      };
    },
  };
}

const unavailable = (message: string, cause?: unknown): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', `${message}: try again in a moment`, {
    retryable: true,
    retry_after_s: RETRY_AFTER_S,
    cause,
  });

const noRoom = (cause?: unknown): ApiError =>
  unavailable('too many files are being transferred', cause);

const tooSlow = (): ApiError =>
  unavailable('the file arrived too slowly while too many files are being transferred');

const MIB = 1024 * 1024;

/** Settings of the services that take in partners' files. */
export const fileSettings = {
  SPOOL_LIMIT_MB: integer(
    { min: 100, max: 1_048_576, default: 1_024 },
    'disk space in the temporary folder (TMPDIR) that all files in transfer may use together',
  ),
};

export const spoolLimitBytes = ({ SPOOL_LIMIT_MB }: { SPOOL_LIMIT_MB: number }): number =>
  SPOOL_LIMIT_MB * MIB;
