// Stores a file on disk on its way from a partner to the upstream, so that only complete files are
// sent: the length is known (header samples need it), a sticker can be inspected, a broken source
// leaves no half file upstream, and a slow one holds no upstream connection. The cost is one write
// and one read of the disk.
import { randomUUID } from 'node:crypto';
import { open, unlink, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiError } from '../errors';

export interface SpooledFile {
  size_bytes: number;
  /** The first bytes of the file, for inspection. */
  head: Buffer;
  /** The bytes, from the beginning. */
  chunks(): AsyncIterable<Uint8Array>;
  /** Frees the disk space. Must always be called. */
  close(): Promise<void>;
}

export interface Spool {
  /** Reads the whole source; rethrows the source's errors. */
  take(source: AsyncIterable<Buffer>): Promise<SpooledFile>;
  /** Disk space in use. */
  used(): { files: number; bytes: number };
}

const HEAD_BYTES = 64;
const READ_CHUNK_BYTES = 128 * 1024;
const FILES_MAX = 256;
const RETRY_AFTER_S = 5;
/** Error codes of a full disk or of too many open files. */
const NO_ROOM: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE']);

export function createSpool(limit_bytes: number, folder: string = tmpdir()): Spool {
  let files = 0;
  let bytes = 0;
  const reserve = (size_bytes: number): void => {
    if (bytes + size_bytes > limit_bytes) throw noRoom();
    bytes += size_bytes;
  };
  return {
    used: () => ({ files, bytes }),
    async take(source) {
      if (files >= FILES_MAX) throw noRoom();
      files += 1;
      let handle: FileHandle | undefined;
      let size_bytes = 0;
      let closed = false;
      const close = async (): Promise<void> => {
        if (closed) return;
        closed = true;
        files -= 1;
        bytes -= size_bytes;
        await handle?.close();
      };
      try {
        const file = (handle = await openNameless(folder));
        let head = Buffer.alloc(0);
        for await (const chunk of source) {
          reserve(chunk.length);
          size_bytes += chunk.length;
          if (head.length < HEAD_BYTES) head = Buffer.concat([head, chunk]).subarray(0, HEAD_BYTES);
          await writeAll(file, chunk);
        }
        // Copied, since a part keeps the whole chunk in memory.
        return { size_bytes, head: Buffer.from(head), chunks: () => read(file, size_bytes), close };
      } catch (error) {
        await close();
        throw NO_ROOM.has((error as { code?: unknown } | null)?.code) ? noRoom(error) : error;
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

const noRoom = (cause?: unknown): ApiError =>
  new ApiError(
    'SERVICE_UNAVAILABLE',
    'too many files are being transferred: try again in a moment',
    {
      retryable: true,
      retry_after_s: RETRY_AFTER_S,
      cause,
    },
  );
