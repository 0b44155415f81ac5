// Ends the response to a client that hardly reads it: the file's connections to the service and to the
// upstream are needed for others.
import type { ServerResponse } from 'node:http';
import { watchPace } from '@bmg/common/overload';

const CHECK_EVERY_MS = 15_000;

/**
 * Destroys the response when it makes too little progress; returns how to stop watching it. The interval is
 * given by tests.
 */
export const evictSlowReader = (
  response: ServerResponse,
  check_every_ms = CHECK_EVERY_MS,
): (() => void) =>
  watchPace(
    check_every_ms,
    () => response.socket?.bytesWritten ?? 0,
    () => response.destroy(new Error('the client reads too slowly')),
  );
