// Pipes a server-streaming RPC to the response: the first message carries the headers, all messages
// carry bytes. A failure before the first byte is a normal error answer. A later one breaks the
// connection: the status is already sent, and half a file must not look complete.
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Context } from 'koa';
import { ApiError, toApiError } from '@bmg/common/errors';
import { evictSlowReader } from './sending';

/** A message of a row with `stream: true`. */
export interface Chunk {
  mime_type?: string | undefined;
  size_bytes?: number | undefined;
  file_name?: string | undefined;
  data: Uint8Array;
}

/** Node does not write other characters of this header as ISO-8859-1. */
const NOT_ASCII = /[^ -~]/g;
const UNKNOWN_TYPE = 'application/octet-stream';

/** Throws a failure before the first byte; returns one after it, or undefined for none. */
export async function streamAnswer(
  context: Context,
  chunks: AsyncIterable<Chunk>,
): Promise<ApiError | undefined> {
  const rest = chunks[Symbol.asyncIterator]();
  const first = await rest.next();
  if (first.done) throw new ApiError('SERVER_ERROR', 'the service sent an empty answer');
  const { mime_type, size_bytes, file_name, data } = first.value;
  context.status = 200;
  context.set({
    'Content-Type': mime_type ?? UNKNOWN_TYPE,
    // The file's content is not trusted: browsers must not sniff its type, proxies must not store
    // it.
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'private, no-store',
    ...(size_bytes !== undefined && { 'Content-Length': String(size_bytes) }),
  });
  // Browsers save the file and do not show it, named or not.
  context.attachment(file_name, { fallback: file_name?.replace(NOT_ASCII, '?') ?? false });
  // From here on this function writes the response instead of Koa.
  context.respond = false;
  const response = context.res as ServerResponse;
  if (context.method === 'HEAD') {
    await rest.return?.();
    response.end();
    return undefined;
  }
  response.flushHeaders();
  const stopWatching = evictSlowReader(response);
  try {
    // The pipeline applies backpressure, and destroys the connection when it fails.
    await pipeline(bytes(data, rest, size_bytes), response);
    return undefined;
  } catch (error) {
    return isPrematureClose(error) ? clientGone(error) : toApiError(error);
  } finally {
    stopWatching();
  }
}

const isPrematureClose = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === 'ERR_STREAM_PREMATURE_CLOSE';

/** Only for the log and the usage record: the client has disconnected. */
const clientGone = (cause: unknown): ApiError =>
  new ApiError('SERVER_ERROR', 'the client disconnected before the file was complete', { cause });

/** Yields exactly as many bytes as announced, else throws. */
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
  new ApiError('SERVER_ERROR', 'the file is not as long as announced');
