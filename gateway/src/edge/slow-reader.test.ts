import type { ServerResponse } from 'node:http';
import { evictSlowReader } from './slow-reader';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const aResponse = () => {
  const socket = { bytesWritten: 0 };
  const destroy = jest.fn();
  return { socket, destroy, response: { socket, destroy } as unknown as ServerResponse };
};

test('ends a response that the client has stopped reading', () => {
  const { socket, destroy, response } = aResponse();
  evictSlowReader(response);
  socket.bytesWritten = 1_000_000;
  jest.advanceTimersByTime(15_000);
  expect(destroy).not.toHaveBeenCalled();
  jest.advanceTimersByTime(15_000);
  expect(destroy).toHaveBeenCalledTimes(1);
});

test('lets a slow reader finish', () => {
  const { socket, destroy, response } = aResponse();
  const stop = evictSlowReader(response);
  for (let second = 0; second < 120; second += 1) {
    socket.bytesWritten += 2_000;
    jest.advanceTimersByTime(1_000);
  }
  stop();
  jest.advanceTimersByTime(60_000);
  expect(destroy).not.toHaveBeenCalled();
});
