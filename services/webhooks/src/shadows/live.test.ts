// Which attempts are copied, and the bounds of copies, against real receivers.
import { guardedAgent, type GuardedAgent } from '@bmg/common/outbound';
import { createLogger } from '@bmg/common/telemetry';
import { GetReceiverResponse } from '@bmg/proto/onboarding';
import { eventually } from '../../../../test/testkit/eventually';
import { useLocalServers } from '../../../common/test/local-servers';
import { anAttempt } from '../../test/builders';
import { createLiveShadows, type LiveShadows } from './live';
import type { Attempt, Outcome } from '../delivery/attempt';
import type { Receiver } from '../delivery/receivers';
import type { Result } from './store';

const log = createLogger('test');
const HOUR_MS = 3_600_000;
const SIXTEEN = 16;

const { http } = useLocalServers();
let agent: GuardedAgent;
let added: Array<{ shadow_id: string; results: Result[] }>;
let current: Receiver;
let live: LiveShadows;

beforeEach(() => {
  agent = guardedAgent({ allowPrivate: true });
  added = [];
  live = createLiveShadows({
    agent,
    log,
    receivers: { of: async () => current },
    shadows: {
      add: async (shadow_id, _id, results) => void added.push({ shadow_id, results }),
    },
  });
  live.assignPartitions(12);
});
afterEach(async () => {
  await live.stop();
  await agent.destroy();
});

const receiverOf = (url: string, change: object = {}): Receiver =>
  GetReceiverResponse.fromPartial({
    status: 'active',
    webhook_url: 'https://first.example.com/',
    shadow: {
      shadow_id: 'shd_1',
      url,
      secret: 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
      source: 'live',
      max_per_second: 1_000,
      ends_at: new Date(Date.now() + HOUR_MS),
      ...change,
    },
  });
const attempt = (event_id: string, change: Partial<Attempt> = {}): Attempt =>
  anAttempt({ event_id, ordering_key: 'of the conversation', ...change });
const DELIVERED: Outcome = {
  result: 'delivered',
  http_status: 200,
  error: null,
  posted: true,
  trace: { at: 0, duration_ms: 7, url: '', secret: '', answer: null },
};
const results = (): Result[] => added.flatMap((one) => one.results);

test('copies each first attempt once, in the order of a conversation', async () => {
  const posted: string[] = [];
  current = receiverOf(
    await http((request, response) => {
      posted.push(String(request.headers['webhook-id']));
      // The first ones take longest.
      setTimeout(() => response.end(), 40 - posted.length);
    }),
  );
  const ids = Array.from({ length: 20 }, (_one, at) => `evt_${at}`);
  for (const id of ids) live.offer(attempt(id), DELIVERED, current);
  live.offer(attempt('a retry', { number: 2 }), DELIVERED, current);
  live.offer(attempt('of an endpoint', { endpoint_id: 'whe_1' }), DELIVERED, current);
  const { trace: _trace, ...not_posted } = DELIVERED;
  live.offer(attempt('not posted'), not_posted, current);
  await eventually(() => results().length === ids.length);
  expect(posted).toEqual(ids);
  expect(results()[0]).toMatchObject({
    event_id: 'evt_0',
    first: { http_status: 200, error: null, duration_ms: 7 },
    shadow: { http_status: 200, error: null },
  });
});

test.each<[string, object]>([
  ['whose time is over', { ends_at: new Date(0) }],
  ['of the last day', { source: 'last_day' }],
])('a shadow %s gets no live events', async (_name, change) => {
  current = receiverOf('http://127.0.0.1:9/', change);
  live.offer(attempt('evt_1'), DELIVERED, current);
  await live.stop();
  expect(added).toEqual([]);
});

test('a partner without a shadow costs one look at its receiver', () => {
  const receiver = GetReceiverResponse.fromPartial({ status: 'active' });
  const looked: string[] = [];
  const watched = new Proxy(receiver, {
    get: (of, name: keyof Receiver & string) => (looked.push(name), of[name]),
  });
  live.offer(attempt('evt_1'), DELIVERED, watched);
  expect(looked).toEqual(['shadow']);
});

test('a shadow that hangs has 100 copies in memory; the others are dropped and counted', async () => {
  const hanging: Array<() => void> = [];
  current = receiverOf(await http((_request, response) => void hanging.push(() => response.end())));
  for (let at = 0; at < 150; at += 1) {
    live.offer(attempt(`evt_${at}`, { ordering_key: `${at}` }), DELIVERED, current);
  }
  await eventually(() => results().length === 50 && hanging.length === 4);
  expect(results().every((one) => one === null)).toBe(true);
  // One that has ended gets nothing more of what waits, which counts nowhere.
  current = { ...current, shadow: undefined };
  for (const answer of hanging) answer();
  await eventually(() => results().length === 54);
  expect(hanging).toHaveLength(4);
});

test('sixteen shadows at a time have copies in a process', async () => {
  const url = await http(() => undefined);
  for (let at = 0; at <= SIXTEEN; at += 1) {
    current = receiverOf(url, { shadow_id: `shd_${at}` });
    live.offer(attempt('evt_1', { partner_id: `ptn_${at}` }), DELIVERED, current);
  }
  await eventually(() => added.length > 0);
  expect(added).toEqual([{ shadow_id: `shd_${SIXTEEN}`, results: [null] }]);
});

test('keeps the rate of a shadow', async () => {
  current = receiverOf(await http((_request, response) => void response.end()), {
    max_per_second: 20,
  });
  const started = performance.now();
  for (let one = 0; one < 8; one += 1) {
    live.offer(attempt(`evt_${one}`, { ordering_key: `${one}` }), DELIVERED, current);
  }
  await eventually(() => results().length === 8);
  // Seven spaces of 50 ms; timers may be a millisecond early.
  expect(performance.now() - started).toBeGreaterThan(340);
});
