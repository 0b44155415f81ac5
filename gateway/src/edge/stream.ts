// A server-streaming call piped to the answer: the head comes with the first message, the bytes with all
// that follow. As long as nothing was sent a failure is an error answer like any other; afterwards the
// connection is broken, because a status that is out cannot be taken back and half a file must not look
// like a whole one.
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Context } from 'koa';
import { ApiError, toApiError } from '@bmg/common/errors';

/** A message of a row with `stream: true`. */
export interface Chunk {
  mime_type?: string | undefined;
  size_bytes?: number | undefined;
  data: Uint8Array;
}

const UNKNOWN_TYPE = 'application/octet-stream';

/** Throws what fails before the first byte; answers what failed after it, if anything. */
export async function streamAnswer(
  context: Context,
  chunks: AsyncIterable<Chunk>,
): Promise<ApiError | undefined> {
  const rest = chunks[Symbol.asyncIterator]();
  const first = await rest.next();
  if (first.done) throw new ApiError('SERVER_ERROR', 'the service answered nothing');
  const { mime_type, size_bytes, data } = first.value;
  context.status = 200;
  context.set({
    'Content-Type': mime_type ?? UNKNOWN_TYPE,
    // Files of strangers: neither interpreted nor kept by anybody on the way.
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'private, no-store',
    ...(size_bytes !== undefined && { 'Content-Length': String(size_bytes) }),
  });
  // From here on the answer is written by hand.
  context.respond = false;
  const response = context.res as ServerResponse;
  if (context.method === 'HEAD') {
    await rest.return?.();
    response.end();
    return undefined;
  }
  response.flushHeaders();
  try {
    // The pipeline reads on only as fast as the client takes, and breaks the connection when it fails.
    await pipeline(bytes(data, rest, size_bytes), response);
    return undefined;
  } catch (error) {
    return isPrematureClose(error) ? clientGone(error) : toApiError(error);
  }
}

const isPrematureClose = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === 'ERR_STREAM_PREMATURE_CLOSE';

/** For the log and the usage record: there is nobody left to read it. */
const clientGone = (cause: unknown): ApiError =>
  new ApiError('SERVER_ERROR', 'the client went away before the file was complete', { cause });

/** Exactly as many bytes as were announced, or an error. */
async function* bytes(
  first: Uint8Array,
  rest: AsyncIterator<Chunk>,
  size_bytes: number | undefined,
): AsyncGenerator<Uint8Array> {
  let sent = 0;
  const counted = (data: Uint8Array): Uint8Array => {
    sent += data.length;
    if (size_bytes !== undefined && sent > size_bytes) throw wrongLength();
    return data;
  };
  try {
    if (first.length > 0) yield counted(first);
    for (let next = await rest.next(); !next.done; next = await rest.next()) {
      if (next.value.data.length > 0) yield counted(next.value.data);
    }
  } finally {
    await rest.return?.();
  }
  if (size_bytes !== undefined && sent !== size_bytes) throw wrongLength();
}

const wrongLength = (): ApiError =>
  new ApiError('SERVER_ERROR', 'the file had another length than was announced');
