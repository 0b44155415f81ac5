// Stores media bytes in a folder: a temporary one that is deleted when the emulator closes, or the
// emulator's data folder. Bodies are streamed in both directions, never held entirely in memory.
import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { createReadStream, createWriteStream, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export const MEDIA_TOTAL_MAX_BYTES = 2 * 1024 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;

export interface StoredFile {
  path: string;
  size: number;
  sha256: string;
}

export class TooLarge extends Error {}

export class MediaStore {
  private folder: string | null = null;
  private readonly secret = createHash('sha256').update(String(Math.random())).digest();

  /** `kept`: the folder to use instead of a temporary one. */
  constructor(private readonly kept: string | null) {}

  newPath(): string {
    this.folder ??= this.kept ?? mkdtempSync(join(tmpdir(), 'emulator-'));
    mkdirSync(this.folder, { recursive: true });
    return join(this.folder, randomUUID());
  }

  /** Writes and hashes the stream; throws TooLarge beyond the limit. */
  async store(source: AsyncIterable<Buffer>, size_max: number): Promise<StoredFile> {
    const path = this.newPath();
    const hash = createHash('sha256');
    let size = 0;
    async function* counted(): AsyncGenerator<Buffer> {
      for await (const chunk of source) {
        size += chunk.length;
        if (size > size_max) throw new TooLarge();
        hash.update(chunk);
        yield chunk;
      }
    }
    try {
      await pipeline(counted, createWriteStream(path));
    } catch (error) {
      await this.remove(path);
      throw error;
    }
    return { path, size, sha256: hash.digest('hex') };
  }

  open(path: string | null, size: number): Readable {
    return path === null ? generated(size) : createReadStream(path, { highWaterMark: CHUNK_BYTES });
  }

  async remove(path: string | null): Promise<void> {
    if (path !== null) await rm(path, { force: true });
  }

  /** A download URL is valid only with its own expiry time. */
  hashFor(media_id: string, expires_s: number): string {
    return createHmac('sha256', this.secret)
      .update(`${media_id}:${expires_s}`)
      .digest('hex')
      .slice(0, 32);
  }

  validHash(media_id: string, expires_s: number, hash: string): boolean {
    const expected = Buffer.from(this.hashFor(media_id, expires_s));
    const given = Buffer.from(hash);
    return expected.length === given.length && timingSafeEqual(expected, given);
  }

  close(): void {
    if (this.folder) rmSync(this.folder, { recursive: true, force: true });
    this.folder = null;
  }
}

/**
 * Generates a body of any size: bytes that count up, so that a receiver can verify each of them.
 */
export function generated(size: number): Readable {
  return Readable.from(generatedChunks(size), { objectMode: false });
}

const PATTERN = Buffer.from(Array.from({ length: CHUNK_BYTES }, (_, index) => index % 251));

export function* generatedChunks(size: number): Generator<Buffer> {
  for (let left = size; left > 0; left -= CHUNK_BYTES) {
    yield left >= CHUNK_BYTES ? PATTERN : PATTERN.subarray(0, left);
  }
}

export function generatedHash(size: number): string {
  const hash = createHash('sha256');
  for (const chunk of generatedChunks(size)) hash.update(chunk);
  return hash.digest('hex');
}
