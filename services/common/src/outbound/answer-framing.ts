// Lets answers through whose framing is unusual and whose meaning is clear, which undici's parser
// refuses: an unasked `100 Continue` before the answer (RFC 9110, 15.2: a client reads any number
// of them), and a length beside chunks (RFC 9112, 6.3: the chunks count). A receiver that answered
// 2xx has the event, however its proxy wrote that down.
import type { Socket } from 'node:net';

/** The longest head that is held back; undici refuses a final one above its own limit. */
export const HEAD_MAX_BYTES = 128 * 1024;

const START = Buffer.from('HTTP/1.');
/** Where the first digit of the status is: `HTTP/1.1 100`. */
const STATUS_AT = 9;
const ONE = '1'.charCodeAt(0);
/** The upgrade that a server must not send unasked: undici refuses it. */
const SWITCHING = '101';
const HEAD_END = '\r\n\r\n';
const CHUNKED = '\r\ntransfer-encoding:';
const LENGTH = '\r\ncontent-length:';
/** A name of the same length for the header that does not count. */
const UNUSED = '\r\nx-ignored-size:';

/** Changes what the socket's next reads return; undici reads it with `read()` only. */
export function acceptUnusualFraming(socket: Socket): Socket {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  const framing = createFraming();
  socket.read = (size?: number) => {
    for (;;) {
      const chunk = read(size);
      if (chunk === null) return null;
      const passed = framing(chunk);
      if (passed.length > 0) return passed;
    }
  };
  return socket;
}

/** Takes the chunks of a connection as they come, and returns what the parser shall read of each. */
export function createFraming(): (chunk: Buffer) => Buffer {
  let held: Buffer | undefined;
  return (chunk) => {
    let bytes = held ? Buffer.concat([held, chunk]) : chunk;
    held = undefined;
    for (;;) {
      if (!isHead(bytes)) return bytes;
      const end = bytes.indexOf(HEAD_END);
      if (end === -1) {
        if (bytes.length > HEAD_MAX_BYTES) return bytes;
        held = bytes;
        return bytes.subarray(0, 0);
      }
      const is_interim =
        bytes[STATUS_AT] === ONE &&
        bytes.toString('latin1', STATUS_AT, STATUS_AT + SWITCHING.length) !== SWITCHING;
      if (!is_interim) return withoutSecondLength(bytes, end);
      bytes = bytes.subarray(end + HEAD_END.length);
    }
  };
}

/** Chunks of a body start otherwise; a chunk too short for a status is passed on. */
const isHead = (bytes: Buffer): boolean =>
  bytes.length > STATUS_AT && bytes.compare(START, 0, START.length, 0, START.length) === 0;

function withoutSecondLength(bytes: Buffer, end: number): Buffer {
  const head = bytes.toString('latin1', 0, end).toLowerCase();
  if (!head.includes(CHUNKED)) return bytes;
  for (let at = head.indexOf(LENGTH); at !== -1; at = head.indexOf(LENGTH, at + 1)) {
    bytes.write(UNUSED, at, 'latin1');
  }
  return bytes;
}
