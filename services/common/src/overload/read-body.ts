// Reads a request body into memory, within its own limit and within the room that all bodies share.
import type { IncomingMessage } from 'node:http';

export type BodyProblem = 'too_large' | 'no_room' | 'incomplete';

export class BodyRefused extends Error {
  constructor(
    readonly problem: BodyProblem,
    options?: ErrorOptions,
  ) {
    super(`request body refused: ${problem}`, options);
  }
}

/**
 * The body's bytes; throws BodyRefused. `reserve` is called with each chunk and refuses the body by
 * returning false; while its promise is pending, no further chunk is read. The caller releases the
 * reserved room.
 */
export async function readBody(
  request: IncomingMessage,
  limit_bytes: number,
  reserve: (bytes: number, chunk: Buffer) => boolean | Promise<boolean> = () => true,
): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limit_bytes) {
    throw new BodyRefused('too_large');
  }
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    // The rest of a refused body stays unread: a destroyed request could not be answered.
    for await (const chunk of request.iterator({
      destroyOnReturn: false,
    }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limit_bytes) throw new BodyRefused('too_large');
      const reserved = reserve(chunk.length, chunk);
      // Without a pause for a body that needs none.
      if (!(typeof reserved === 'boolean' ? reserved : await reserved))
        throw new BodyRefused('no_room');
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof BodyRefused) throw error;
    throw new BodyRefused('incomplete', { cause: error });
  }
  return Buffer.concat(chunks, size);
}
