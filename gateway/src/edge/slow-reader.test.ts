import { EventEmitter, once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { evictSlowReader } from './sending';

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

test('watches an answer behind others of its connection once it is its turn', () => {
  const response = Object.assign(new EventEmitter(), {
    socket: null as { bytesWritten: number } | null,
    destroy: jest.fn(),
  });
  const stop = evictSlowReader(response as unknown as ServerResponse);
  jest.advanceTimersByTime(120_000);
  expect(response.destroy).not.toHaveBeenCalled();
  response.socket = { bytesWritten: 0 };
  response.emit('socket', response.socket);
  jest.advanceTimersByTime(15_000);
  expect(response.destroy).toHaveBeenCalledTimes(1);
  stop();
});

test('ends the connection of a client that has stopped reading', async () => {
  jest.useRealTimers();
  const server = createServer((_request, response) => {
    response.writeHead(200);
    evictSlowReader(response, 200);
    response.write(Buffer.alloc(50_000_000));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined);
  client.pause().write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const [response] = (await once(server, 'request')).slice(1) as [ServerResponse];
  await once(response, 'close');
  expect(response.writableFinished).toBe(false);
  client.destroy();
  server.close();
});
