// What is handed to the service that sends to partners' servers, and how its answers are
// classified.
import { unsampled } from '@bmg/common/telemetry';
import type { SendRequest, SendResponse } from '@bmg/proto/destinations';
import { createDestinations, type Outgoing } from './destination-attempt';

const DESTINATION = { type: 'kafka', settings: { brokers: ['b:9092'], topic: 't', tls: true } };
const stored = { is_stored: true, error: '', is_permanent: false };

const attempt = (event_id: string, more: Partial<Outgoing> = {}): Outgoing =>
  ({
    event_id,
    partner_id: 'p',
    endpoint_id: 'e',
    event: 'message.received',
    body: Buffer.from('{}'),
    received_at_ms: 0,
    ...more,
  }) as Outgoing;

function served(answer: (request: SendRequest) => SendResponse | Promise<SendResponse>) {
  const requests: SendRequest[] = [];
  const routes: (string | undefined)[] = [];
  const { send } = createDestinations({
    async send(request, { route }) {
      requests.push(request);
      routes.push(route);
      return answer(request);
    },
  });
  const sendOne = (one: Outgoing) => send(one, DESTINATION, 'envelope', unsampled());
  return { requests, routes, sendOne };
}

test('hands over the events of one endpoint together, and of two endpoints apart', async () => {
  const { requests, routes, sendOne } = served(({ events }) => ({
    outcomes: events.map(() => stored),
  }));
  const others = attempt('evt_3', { endpoint_id: 'other' });
  const outcomes = await Promise.all([attempt('evt_1'), attempt('evt_2'), others].map(sendOne));
  expect(outcomes.map(({ result }) => result)).toEqual(['delivered', 'delivered', 'delivered']);
  expect(requests.map(({ endpoint_id, events }) => [endpoint_id, events.length])).toEqual([
    ['e', 2],
    ['other', 1],
  ]);
  expect(routes).toEqual(['p', 'p']);
});

test('splits events that do not fit into one request', async () => {
  const { requests, sendOne } = served(({ events }) => ({ outcomes: events.map(() => stored) }));
  const body = Buffer.alloc(2_000_000, 'a');
  await Promise.all(['evt_1', 'evt_2', 'evt_3'].map((id) => sendOne(attempt(id, { body }))));
  expect(requests.map(({ events }) => events.length)).toEqual([1, 1, 1]);
});

test('gives each event its own outcome', async () => {
  const { sendOne } = served(() => ({
    outcomes: [stored, { is_stored: false, error: 'no such topic', is_permanent: true }],
  }));
  const outcomes = await Promise.all(['evt_1', 'evt_2', 'evt_3'].map((id) => sendOne(attempt(id))));
  expect(outcomes).toEqual([
    { result: 'delivered', error: null, posted: true },
    { result: 'refused', error: 'no such topic', is_permanent: true, posted: true },
    { result: 'refused', error: 'failed', is_permanent: false, posted: true },
  ]);
});

test('fails an event that no request can hold for good, without a request', async () => {
  const { requests, sendOne } = served(() => ({ outcomes: [] }));
  const outcome = await sendOne(attempt('evt_1', { body: Buffer.alloc(4_000_000, 'a') }));
  expect(outcome).toMatchObject({ result: 'refused', is_permanent: true });
  expect(outcome.error).toMatch(/^event too large: \d+ bytes, the limit is 3800000$/);
  expect(requests).toEqual([]);
});

test('rejects while the service is unreachable, so that no attempt is used up', async () => {
  const { sendOne } = served(() => Promise.reject(new Error('unreachable')));
  await expect(sendOne(attempt('evt_1'))).rejects.toThrow('unreachable');
});
