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
  /** Reads the whole source for a partner; rethrows the source's errors. */
  take(source: AsyncIterable<Buffer>, partner_id: string): Promise<SpooledFile>;
  /** Disk space in use. */
  used(): { files: number; bytes: number };
}

const HEAD_BYTES = 64;
const READ_CHUNK_BYTES = 128 * 1024;
const FILES_MAX = 256;
/** Of one partner, which also has half of the disk space, but room for the largest file at least. */
export const FILES_OF_PARTNER = FILES_MAX / 2;
const LARGEST_BYTES = 100 * 1024 * 1024;
const RETRY_AFTER_S = 5;
/** Error codes of a full disk or of too many open files. */
const NO_ROOM: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE']);

interface Used {
  files: number;
  bytes: number;
}

export function createSpool(
  limit_bytes: number,
  folder: string = tmpdir(),
  share_bytes: number = Math.max(limit_bytes / 2, LARGEST_BYTES),
): Spool {
  const all: Used = { files: 0, bytes: 0 };
  const partners = new Map<string, Used>();
  const enter = (partner_id: string): Used => {
    const own = partners.get(partner_id) ?? { files: 0, bytes: 0 };
    if (all.files >= FILES_MAX || own.files >= FILES_OF_PARTNER) throw noRoom();
    partners.set(partner_id, own);
    for (const used of [all, own]) used.files += 1;
    return own;
  };
  const reserve = (own: Used, size_bytes: number): void => {
    if (all.bytes + size_bytes > limit_bytes || own.bytes + size_bytes > share_bytes)
      throw noRoom();
    for (const used of [all, own]) used.bytes += size_bytes;
  };
  const leave = (partner_id: string, own: Used, size_bytes: number): void => {
    for (const used of [all, own]) {
      used.files -= 1;
      used.bytes -= size_bytes;
    }
    if (own.files === 0) partners.delete(partner_id);
  };
  return {
    used: () => ({ ...all }),
    async take(source, partner_id) {
      const own = enter(partner_id);
      let handle: FileHandle | undefined;
      let size_bytes = 0;
      let closed = false;
      const close = async (): Promise<void> => {
        if (closed) return;
        closed = true;
        leave(partner_id, own, size_bytes);
        await handle?.close();
      };
      try {
        const file = (handle = await openNameless(folder));
        let head = Buffer.alloc(0);
        for await (const chunk of source) {
          reserve(own, chunk.length);
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
