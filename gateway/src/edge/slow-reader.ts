// Ends the response to a client that hardly reads it: the file's connections to the service and to the
// upstream are needed for others.
import type { ServerResponse } from 'node:http';

const CHECK_EVERY_MS = 15_000;
const BYTES_PER_S_MIN = 1_024;

/** Destroys the response when it makes too little progress; returns how to stop watching it. */
export function evictSlowReader(response: ServerResponse): () => void {
  let before = response.socket?.bytesWritten ?? 0;
  const timer = setInterval(() => {
    const written = response.socket?.bytesWritten ?? 0;
    if (written - before < (BYTES_PER_S_MIN * CHECK_EVERY_MS) / 1_000) {
      response.destroy(new Error('the client reads too slowly'));
    }
    before = written;
  }, CHECK_EVERY_MS);
  return () => clearInterval(timer);
}
