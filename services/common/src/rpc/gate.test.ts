// Admission before the handlers, and errors when an engine is unavailable.
// test/e2e/mtls.e2e.test.ts covers the access rules with certificates.
import { MongoNetworkError } from 'mongodb';
import type { ApiError } from '../errors';
import { createLogger, unsampled } from '../telemetry';
import { HealthCheckResponse_ServingStatus as Serving, HealthDefinition } from '@bmg/proto/health';
import { MessagingDefinition } from '@bmg/proto/messaging';
import { eventually } from '../../../../test/testkit/eventually';
import { createRpcClient, createRpcServer, implement, ownCall, type RpcServer } from '.';

const HOST = '127.0.0.1';
const IN_FLIGHT_MAX = 3;
const log = createLogger('test');
const call = () => ownCall(unsampled(), 60_000);

const waiting: Array<() => void> = [];
let asked = 0;
let server: RpcServer;

const handlers = {
  sendText: () =>
    new Promise((resolve) => waiting.push(() => resolve({ message_id: 'wamid.1', contacts: [] }))),
  markRead: async () => {
    throw new MongoNetworkError('connection 1 closed');
  },
  findOutcome: async () => {
    asked += 1;
    throw new MongoNetworkError('connection 1 closed');
  },
};

beforeAll(async () => {
  server = createRpcServer(
    { host: HOST, port: 0, in_flight_max: IN_FLIGHT_MAX },
    [implement(MessagingDefinition, handlers as never)],
    log,
  );
  server.health.set(true);
  await server.start(new AbortController().signal);
});
afterAll(() => server.stop());

test('refuses calls beyond the bound, answers health, and recovers', async () => {
  const messaging = createRpcClient(MessagingDefinition, `${HOST}:${server.port}`);
  const health = createRpcClient(HealthDefinition, `${HOST}:${server.port}`);
  const send = () => messaging.rpc.sendText({ text: 'x' } as never, call());
  const under_way = Array.from({ length: IN_FLIGHT_MAX }, send);
  await eventually(() => waiting.length === IN_FLIGHT_MAX);
  const refused = (await send().catch((error: unknown) => error)) as ApiError;
  expect(refused).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true, retry_after_s: 1 });
  expect((await health.rpc.check({ service: '' }, call())).status).toBe(Serving.SERVING);
  for (const end of waiting.splice(0)) end();
  await Promise.all(under_way);
  const again = send();
  await eventually(() => waiting.length === 1);
  for (const end of waiting.splice(0)) end();
  await expect(again).resolves.toMatchObject({ message_id: 'wamid.1' });
  await messaging.stop();
  await health.stop();
});

test('answers 503 for an unavailable database; only a read is retryable', async () => {
  const messaging = createRpcClient(MessagingDefinition, `${HOST}:${server.port}`);
  const write = messaging.rpc.markRead({} as never, call());
  await expect(write).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: false });
  const read = messaging.rpc.findOutcome({} as never, call());
  await expect(read).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true });
  expect(asked).toBe(1);
  await messaging.stop();
});
