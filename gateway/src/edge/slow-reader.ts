// Ends the response to a client that hardly reads it: others need the memory and the connections
// that it holds.
import type { ServerResponse } from 'node:http';
import { watchMinimumRate } from '@bmg/common/overload';

const CHECK_EVERY_MS = 15_000;

/**
 * Destroys the response when it makes too little progress; returns how to stop watching it. Tests
 * set the interval.
 */
export const evictSlowReader = (
  response: ServerResponse,
  check_every_ms = CHECK_EVERY_MS,
): (() => void) => {
  const watch = (): (() => void) =>
    watchMinimumRate(
      check_every_ms,
      () => response.socket?.bytesWritten ?? 0,
      () => response.destroy(new Error('the client reads too slowly')),
    );
  if (response.socket) return watch();
  // Answers to earlier requests of the connection come first.
  let stop = (): void => void response.off('socket', begin);
  const begin = (): void => {
    stop = watch();
  };
  response.once('socket', begin);
  return () => stop();
};
