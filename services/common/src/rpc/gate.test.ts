// Admission before the handlers, and errors when an engine is unavailable.
// test/e2e/mtls.e2e.test.ts covers the access rules with certificates.
import { MongoNetworkError } from 'mongodb';
import type { ApiError } from '../errors';
import { HealthCheckResponse_ServingStatus as Serving, HealthDefinition } from '@bmg/proto/health';
import { MessagingDefinition } from '@bmg/proto/messaging';
import { eventually } from '../../../../test/testkit/eventually';
import { call, HOST, useRpc } from '../../test/rpc';

const IN_FLIGHT_MAX = 3;

const waiting: Array<() => void> = [];
let asked = 0;

const { serve, client } = useRpc();
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

const start = () => serve(MessagingDefinition, handlers, { in_flight_max: IN_FLIGHT_MAX });

test('refuses calls beyond the bound, answers health, and recovers', async () => {
  const { port } = await start();
  const messaging = client(MessagingDefinition, `${HOST}:${port}`);
  const health = client(HealthDefinition, `${HOST}:${port}`);
  const send = () => messaging.sendText({ text: 'x' } as never, call());
  const under_way = Array.from({ length: IN_FLIGHT_MAX }, send);
  await eventually(() => waiting.length === IN_FLIGHT_MAX);
  const refused = (await send().catch((error: unknown) => error)) as ApiError;
  expect(refused).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true, retry_after_s: 1 });
  expect((await health.check({ service: '' }, call())).status).toBe(Serving.SERVING);
  for (const end of waiting.splice(0)) end();
  await Promise.all(under_way);
  const again = send();
  await eventually(() => waiting.length === 1);
  for (const end of waiting.splice(0)) end();
  await expect(again).resolves.toMatchObject({ message_id: 'wamid.1' });
});

test('answers 503 for an unavailable database; only a read is retryable', async () => {
  const messaging = client(MessagingDefinition, `${HOST}:${(await start()).port}`);
  const write = messaging.markRead({} as never, call());
  await expect(write).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: false });
  const read = messaging.findOutcome({} as never, call());
  await expect(read).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true });
  expect(asked).toBe(1);
});
