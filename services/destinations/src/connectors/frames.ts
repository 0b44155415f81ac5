// Frames between the service and a connector process: a length of four bytes, then a message of
// `ConnectorRequest` or `ConnectorReply`.
import type { Readable } from 'node:stream';

/** Longest frame to a connector, and from one: a reply has a short text for each event. */
export const REQUEST_MAX_BYTES = 4 * 1024 * 1024;
export const REPLY_MAX_BYTES = 64 * 1024;

const LENGTH_BYTES = 4;

export function frameOf(message: Uint8Array): Buffer {
  const head = Buffer.alloc(LENGTH_BYTES);
  head.writeUInt32BE(message.length);
  return Buffer.concat([head, message]);
}

/**
 * Calls `onFrame` with each message of a stream, and buffers at most one of `max_bytes`. A longer
 * one ends the reading with `onTooLong`.
 */
export function readFrames(
  stream: Readable,
  max_bytes: number,
  onFrame: (message: Buffer) => void,
  onTooLong: () => void,
): void {
  let chunks: Buffer[] = [];
  let buffered = 0;
  let needed = LENGTH_BYTES;
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk);
    buffered += chunk.length;
    if (buffered < needed) return;
    let bytes = Buffer.concat(chunks, buffered);
    for (;;) {
      needed = LENGTH_BYTES + (bytes.length < LENGTH_BYTES ? 0 : bytes.readUInt32BE());
      if (needed > LENGTH_BYTES + max_bytes) {
        stream.off('data', onData);
        return onTooLong();
      }
      if (bytes.length < needed || bytes.length < LENGTH_BYTES) break;
      onFrame(bytes.subarray(LENGTH_BYTES, needed));
      bytes = bytes.subarray(needed);
    }
    chunks = [bytes];
    buffered = bytes.length;
  };
  stream.on('data', onData);
}
