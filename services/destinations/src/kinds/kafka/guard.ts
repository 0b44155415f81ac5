// Checks the lengths of a Kafka server's answers before kafkajs reads them: it reads a number from an
// empty frame, which throws in a listener of the socket, and buffers whatever length is announced.
import type { Socket } from 'node:net';
import { ConnectFailed } from '@bmg/common/outbound';

const LENGTH_BYTES = 4;
/** The correlation ID that each answer starts with. */
const FRAME_MIN_BYTES = 4;
const FRAME_MAX_BYTES = 1024 * 1024;

/** Destroys the socket with a failure `protocol` when the server announces an impossible frame. */
export function guardKafkaFrames(socket: Socket): void {
  /** Bytes of the current frame that are still to come; a new frame starts at 0. */
  let left = 0;
  let length = 0;
  let length_bytes = 0;
  const isValid = (chunk: Buffer): boolean => {
    let at = 0;
    while (at < chunk.length) {
      if (left > 0) {
        const taken = Math.min(left, chunk.length - at);
        left -= taken;
        at += taken;
        continue;
      }
      length = length * 256 + chunk.readUInt8(at);
      at += 1;
      length_bytes += 1;
      if (length_bytes < LENGTH_BYTES) continue;
      // A negative length is above the maximum here.
      if (length < FRAME_MIN_BYTES || length > FRAME_MAX_BYTES) return false;
      left = length;
      length = 0;
      length_bytes = 0;
    }
    return true;
  };
  const push = socket.push.bind(socket);
  // The socket hands every chunk to `push` before any listener sees it.
  socket.push = (chunk: Buffer | null, encoding?: BufferEncoding): boolean => {
    if (chunk === null || isValid(chunk)) return push(chunk, encoding);
    socket.destroy(new ConnectFailed('protocol', false));
    return false;
  };
}
