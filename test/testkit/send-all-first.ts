// A simple client: it sends its whole request before it reads a byte of the answer.
import { connect } from 'node:net';
import { requestBytes } from './request-bytes';

/** The answer's status line; rejects if the connection breaks before it. */
export async function sendAllFirst(
  base_url: string,
  path: string,
  headers: Record<string, string>,
  body: Buffer,
): Promise<string> {
  const url = new URL(base_url);
  const socket = connect({ host: url.hostname, port: Number(url.port) });
  try {
    await new Promise<void>((sent, failed) => {
      socket.once('error', failed);
      socket.write(requestBytes(url, path, headers, body), (error) =>
        error ? failed(error) : sent(),
      );
    });
    for await (const chunk of socket) return String(chunk).split('\r\n', 1)[0] as string;
    throw new Error('the connection was closed without an answer');
  } finally {
    socket.destroy();
  }
}
