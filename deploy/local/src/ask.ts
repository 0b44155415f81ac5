// Sends one request over a raw TCP connection and checks the answer: a health check of an engine
// without its client library.
import { connect } from 'node:net';
import { HOST } from './ports';

const ANSWER_LIMIT_MS = 2_000;
const ANSWER_MAX_BYTES = 64 * 1024;

/**
 * Resolves with the first result of `isAnswer` that is not undefined; it gets all bytes received so
 * far. False when the connection fails, closes or times out.
 */
export function ask(
  port: number,
  request: Buffer,
  isAnswer: (bytes: Buffer) => boolean | undefined,
): Promise<boolean> {
  return new Promise((resolve) => {
    let bytes = Buffer.alloc(0);
    const socket = connect({ host: HOST, port });
    const limit = setTimeout(() => finish(false), ANSWER_LIMIT_MS);
    const finish = (answer: boolean): void => {
      clearTimeout(limit);
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => socket.write(request));
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      const answer = isAnswer(bytes);
      if (answer !== undefined) finish(answer);
      else if (bytes.length > ANSWER_MAX_BYTES) finish(false);
    });
    socket.once('error', () => finish(false));
    socket.once('close', () => finish(false));
  });
}
