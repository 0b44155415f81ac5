import { Readable } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { BodySource } from './http';
import { boundaryOf, readMultipart } from './multipart';

const CRLF = '\r\n';

function bodyWith(file: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(
      `--B${CRLF}Content-Disposition: form-data; name="type"${CRLF}${CRLF}image/png${CRLF}` +
        `--B${CRLF}Content-Disposition: form-data; name="file"; filename="a b.png"${CRLF}` +
        `Content-Type: image/png${CRLF}${CRLF}`,
    ),
    file,
    Buffer.from(`${CRLF}--B--${CRLF}`),
  ]);
}

async function read(body: Buffer, piece: number) {
  const pieces: Buffer[] = [];
  for (let i = 0; i < body.length; i += piece) pieces.push(body.subarray(i, i + piece));
  const source = new BodySource(Readable.from(pieces) as IncomingMessage);
  const texts: Record<string, string> = {};
  const chunks: Buffer[] = [];
  let filename: string | null = null;
  await readMultipart(source, 'B', {
    text: (name, value) => void (texts[name] = value),
    file: async (headers, bytes) => {
      filename = headers.filename;
      for await (const chunk of bytes) chunks.push(chunk);
    },
  });
  return { texts, filename, file: Buffer.concat(chunks) };
}

describe('the multipart reader', () => {
  const file = Buffer.from(`almost${CRLF}--C a boundary${CRLF}--`);

  it.each([1, 2, 3, 7, 64, 4096])('reads the same from chunks of %i bytes', async (piece) => {
    expect(await read(bodyWith(file), piece)).toEqual({
      texts: { type: 'image/png' },
      filename: 'a b.png',
      file,
    });
  });

  it('refuses a body that ends early or does not start with the boundary', async () => {
    const body = bodyWith(file);
    await expect(read(body.subarray(0, body.length - 12), 10)).rejects.toThrow(
      'ends in the middle',
    );
    await expect(read(Buffer.from('hello, this is no form'), 10)).rejects.toThrow('boundary');
  });

  it('finds the boundary, quoted or not', () => {
    expect(boundaryOf('multipart/form-data; boundary=abc')).toBe('abc');
    expect(boundaryOf('multipart/form-data; charset=utf-8; boundary="a b"')).toBe('a b');
    expect(boundaryOf('application/json')).toBeNull();
  });
});
