// Streams a multipart/form-data body around one file: its length is known before the first byte is
// sent, and the file is never entirely in memory.
import { randomBytes } from 'node:crypto';

export interface Multipart {
  content_type: string;
  length_bytes: number;
  chunks: AsyncIterable<Uint8Array>;
}

interface FilePart {
  name: string;
  filename: string;
  content_type: string;
  size_bytes: number;
  chunks: AsyncIterable<Uint8Array>;
}

const BOUNDARY_RANDOM_BYTES = 18;

export function multipart(texts: Record<string, string>, file: FilePart): Multipart {
  // Too random to occur in the file, so that the file need not be searched for it.
  const boundary = `bmg-${randomBytes(BOUNDARY_RANDOM_BYTES).toString('hex')}`;
  const textParts = Object.entries(texts).map(
    ([name, value]) =>
      `--${boundary}\r\ncontent-disposition: form-data; name="${quoted(name)}"\r\n\r\n${value}\r\n`,
  );
  const opening = Buffer.from(
    `${textParts.join('')}--${boundary}\r\n` +
      `content-disposition: form-data; name="${quoted(file.name)}"; filename="${quoted(file.filename)}"\r\n` +
      `content-type: ${file.content_type}\r\n\r\n`,
  );
  const closing = Buffer.from(`\r\n--${boundary}--\r\n`);
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield opening;
    yield* file.chunks;
    yield closing;
  }
  return {
    content_type: `multipart/form-data; boundary=${boundary}`,
    length_bytes: opening.length + file.size_bytes + closing.length,
    chunks: chunks(),
  };
}

/** Encodes a name as browsers do in a part's header. */
const quoted = (name: string): string =>
  name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');
