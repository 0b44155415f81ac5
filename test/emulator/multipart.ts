// A streaming reader of multipart/form-data: small text parts are collected, the file part is
// passed on chunk by chunk. It holds at most one chunk and the length of a boundary.
import type { BodySource } from './http';

const HEADER_MAX_BYTES = 16 * 1024;
const TEXT_PART_MAX_BYTES = 64 * 1024;
const PARTS_MAX = 50;

export class MultipartError extends Error {}

export interface PartHeaders {
  name: string;
  filename: string | null;
  content_type: string | null;
}

export interface MultipartHandler {
  /** Called once for each part that has a file name; must read the stream to its end. */
  file(headers: PartHeaders, bytes: AsyncIterable<Buffer>): Promise<void>;
  text(name: string, value: string): void;
}

export function boundaryOf(content_type: string | undefined): string | null {
  const match = /^multipart\/form-data\s*;.*?boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(
    content_type ?? '',
  );
  return match?.[1] ?? match?.[2] ?? null;
}

export async function readMultipart(
  source: BodySource,
  boundary: string,
  handler: MultipartHandler,
): Promise<void> {
  const reader = new Reader(source, boundary);
  await reader.skipPreamble();
  for (let count = 0; count < PARTS_MAX; count += 1) {
    if (!(await reader.nextPart())) return;
    const headers = parseHeaders(await reader.headers());
    if (headers.filename !== null) {
      await handler.file(headers, reader.partBytes());
    } else {
      handler.text(headers.name, await collect(reader.partBytes()));
    }
  }
  throw new MultipartError('too many parts');
}

async function collect(bytes: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.length;
    if (size > TEXT_PART_MAX_BYTES) throw new MultipartError('a text part is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parseHeaders(text: string): PartHeaders {
  const disposition = /^content-disposition:\s*form-data(.*)$/im.exec(text)?.[1] ?? '';
  const name = /;\s*name="([^"]*)"/i.exec(disposition)?.[1];
  if (name === undefined) throw new MultipartError('a part has no name');
  const filename = /;\s*filename="([^"]*)"/i.exec(disposition)?.[1] ?? null;
  const content_type = /^content-type:\s*(\S.*?)\s*$/im.exec(text)?.[1] ?? null;
  return { name, filename, content_type };
}

class Reader {
  private readonly delimiter: Buffer;
  private buffer: Buffer = Buffer.alloc(0);

  constructor(
    private readonly source: BodySource,
    private readonly boundary: string,
  ) {
    this.delimiter = Buffer.from(`\r\n--${boundary}`);
  }

  async skipPreamble(): Promise<void> {
    // The first boundary has no line break before it; all others do.
    const first = Buffer.from(`--${this.boundary}`);
    await this.fill(first.length);
    if (!this.buffer.subarray(0, first.length).equals(first)) {
      throw new MultipartError('the body does not start with the boundary');
    }
    this.buffer = this.buffer.subarray(first.length);
  }

  /** Right after a boundary: reads whether another part follows or the body ends. */
  async nextPart(): Promise<boolean> {
    await this.fill(2);
    const mark = this.buffer.subarray(0, 2).toString('latin1');
    this.buffer = this.buffer.subarray(2);
    if (mark === '--') return false;
    if (mark !== '\r\n') throw new MultipartError('a boundary is not followed by a line break');
    return true;
  }

  async headers(): Promise<string> {
    for (;;) {
      const end = this.buffer.indexOf('\r\n\r\n');
      if (end >= 0) {
        const text = this.buffer.subarray(0, end).toString();
        this.buffer = this.buffer.subarray(end + 4);
        return text;
      }
      if (this.buffer.length > HEADER_MAX_BYTES) throw new MultipartError('headers are too large');
      await this.more();
    }
  }

  /** Yields everything up to the next boundary; holds back a possible start of one. */
  async *partBytes(): AsyncGenerator<Buffer> {
    for (;;) {
      const end = this.buffer.indexOf(this.delimiter);
      if (end >= 0) {
        if (end > 0) yield this.buffer.subarray(0, end);
        this.buffer = this.buffer.subarray(end + this.delimiter.length);
        return;
      }
      const safe = this.buffer.length - this.delimiter.length;
      if (safe > 0) {
        yield this.buffer.subarray(0, safe);
        this.buffer = this.buffer.subarray(safe);
      }
      await this.more();
    }
  }

  private async fill(length: number): Promise<void> {
    while (this.buffer.length < length) await this.more();
  }

  private async more(): Promise<void> {
    const chunk = await this.source.next();
    if (chunk === null) throw new MultipartError('the body ends in the middle of a part');
    this.buffer = this.buffer.length === 0 ? chunk : Buffer.concat([this.buffer, chunk]);
  }
}
