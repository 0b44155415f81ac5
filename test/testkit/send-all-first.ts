// A simple client: it sends its whole request before it reads a byte of the answer.
import { connect } from 'node:net';

/** The answer's status line; rejects where the connection breaks before it. */
export async function sendAllFirst(
  base_url: string,
  path: string,
  headers: Record<string, string>,
  body: Buffer,
): Promise<string> {
  const { hostname, port } = new URL(base_url);
  const socket = connect({ host: hostname, port: Number(port) });
  try {
    const lines = Object.entries({ Host: hostname, 'Content-Length': body.length, ...headers });
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    await new Promise<void>((sent, failed) => {
      socket.once('error', failed);
      socket.write(`POST ${path} HTTP/1.1\r\n${head}\r\n`);
      socket.write(body, (error) => (error ? failed(error) : sent()));
    });
    for await (const chunk of socket) return String(chunk).split('\r\n', 1)[0] as string;
    throw new Error('the connection was closed without an answer');
  } finally {
    socket.destroy();
  }
}
