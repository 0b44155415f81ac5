// Reads what a partner's server sends before the client library does, for protocols other than HTTP.
import type { OnReadOpts, Socket } from 'node:net';
import { ConnectFailed } from './failures';

const READ_BUFFER_BYTES = 64 * 1024;

/** The server broke the rules of its protocol. `detail` is a constant text: the partner reads it. */
export class ProtocolBroken extends ConnectFailed {
  constructor(readonly detail: string) {
    super('protocol', false);
    this.message = protocolBroken(detail);
  }
}

export const protocolBroken = (detail: string): string =>
  `the server broke the protocol: ${detail}`;

/** Returns the bytes that the library may read. Throws ProtocolBroken, which ends the connection. */
export type Inspect = (bytes: Buffer) => Buffer;

/**
 * The option `onread` of net.connect and tls.connect. The socket then hands each chunk to this
 * function only, and the library reads what the function pushes.
 */
export function inspectedReads(inspect: Inspect): OnReadOpts {
  return {
    buffer: Buffer.allocUnsafe(READ_BUFFER_BYTES),
    callback(this: Socket, length: number, buffer: Uint8Array): boolean {
      try {
        const bytes = inspect(Buffer.from(buffer.subarray(0, length)));
        return bytes.length === 0 || this.push(bytes);
      } catch (error) {
        this.destroy(error instanceof Error ? error : new ProtocolBroken('unreadable answer'));
        return false;
      }
    },
  };
}
