// Pages of events: their content is sent as it was stored, and fits the bytes that were reserved
// for it.
import { setImmediate } from 'node:timers/promises';
import type { ListEventsResponse, LoggedEvent } from '@bmg/proto/webhooks';
import { inputOf, replyOf, rowOf } from '../../../../test/contract/rows';
import type { Fields } from '../endpoint';
import { stringify } from '../parts/json-text';
import { ANSWER_BYTES_SHARE, READ_SHARE } from '../../limits/answers';
import { longestTurn } from '../../../../test/testkit/longest-turn';

const MIB = 1024 * 1024;
/** 50 ms on an idle core. Beside other tests the same work takes up to twice the CPU time. */
const TURN_CPU_MS_MAX = process.env['BMG_FAULTS'] === 'long' ? 50 : 100;
/** The best of several runs counts: a run may be the one that compiles or collects garbage. */
const RUNS = 4;
const LIMIT_MAX = 1_000;

const loggedEvent = (envelope: string): LoggedEvent => ({
  seq: Number.MAX_SAFE_INTEGER,
  event_id: `evt_${'x'.repeat(43)}`,
  event: 'phone.messaging_limit_tier_updated',
  waba_id: '9'.repeat(20),
  envelope,
  received_at: new Date(),
  logged_at: new Date(),
  trace_id: 'f'.repeat(32),
  delivery: {
    status: 'delivered',
    attempts: 1_000_000,
    last_http_status: 200,
    last_duration_ms: 10_000,
    delivered_at: new Date(),
  },
});
const page = (found: LoggedEvent[]): ListEventsResponse => ({
  events: found,
  next: 1,
  has_more: false,
  oldest: 1,
  newest: 1,
});

/** The body of the answer, as the edge writes it. */
const answerTo = (path: string, reply: object, limit = 100): string =>
  stringify({ success: true, ...replyOf(`GET ${path}`, reply, { query: { limit } }) });

const ENVELOPE = '{"event":"x","data":{"big":12345678901234567890,"one":1.0,"text":"\\u00e9"}}';

test('content is sent byte for byte as it was posted', () => {
  const event = loggedEvent(ENVELOPE);
  const list = answerTo('/events', page([event, event]));
  expect(list.split(`"envelope":${ENVELOPE}`)).toHaveLength(3);
  const { events: listed, ...rest } = JSON.parse(list) as { events: Fields[] };
  expect(rest).toEqual({
    success: true,
    next: 1,
    has_more: false,
    oldest: 1,
    newest: 1,
    limit: 100,
  });
  expect(Object.keys(listed[0] as Fields)).toEqual([
    'seq',
    'event_id',
    'event',
    'logged_at',
    'envelope',
    'delivery',
  ]);
  const one = answerTo('/events/:event_id', { event, attempts: [] });
  expect(one).toContain(`"envelope":${ENVELOPE}`);
  expect(JSON.parse(one)).toMatchObject({
    success: true,
    attempts: [],
    delivery: { attempts: 1e6 },
  });
  const failed = {
    event_id: 'evt_1',
    event: 'x',
    status: 'failed',
    attempts: 9,
    payload: ENVELOPE,
  };
  const failures = answerTo('/webhooks/failed', { events: [failed], after: undefined, total: 1 });
  expect(failures).toContain(`"payload":${ENVELOPE}`);
  expect(JSON.parse(failures)).toMatchObject({ count: 1, events: [{ next_attempt_at: null }] });
  expect(JSON.parse(answerTo('/events', page([])))).toMatchObject({ events: [], limit: 100 });
});

test.each([
  ['texts', JSON.stringify({ data: 'x'.repeat(2_000) })],
  ['empty objects', `{"data":[${Array.from({ length: 700 }, () => '{}').join()}]}`],
  [
    'many keys',
    JSON.stringify({ data: Object.fromEntries([...Array(250).keys()].map((at) => [`k${at}`, 0])) }),
  ],
])('the largest page of %s takes no long turn of the event loop', async (_name, envelope) => {
  const found = Array.from({ length: LIMIT_MAX }, () => loggedEvent(envelope));
  let best = Infinity;
  for (let run = 0; run < RUNS; run += 1) {
    const turn = await longestTurn(async () => {
      await setImmediate();
      expect(answerTo('/events', page(found), LIMIT_MAX).length).toBeGreaterThan(1.8 * MIB);
    });
    best = Math.min(best, turn);
  }
  if (process.env['BMG_MEASURE']) console.log(_name, best);
  expect(best).toBeLessThan(TURN_CPU_MS_MAX);
});

test.each(['/events', '/webhooks/failed'])(
  'an answer of GET %s takes at most the bytes that are reserved for it',
  async (path) => {
    const { request, answer_bytes } = rowOf(`GET ${path}`);
    for (const limit of [1, 20, 100, LIMIT_MAX]) {
      const { max_bytes } = (await request?.(inputOf({ query: { limit } }))) as {
        max_bytes: number;
      };
      const empty = '{"data":""}';
      const size = Math.floor(max_bytes / limit);
      const envelope = `{"data":"${'x'.repeat(size - empty.length)}"}`;
      const found = Array.from({ length: limit }, () => loggedEvent(envelope));
      const reply = path === '/events' ? page(found) : failedPage(envelope, limit);
      const answer = answerTo(path, reply, limit);
      expect(answer.length).toBeGreaterThan(0.9 * max_bytes);
      expect(answer.length).toBeLessThanOrEqual(answer_bytes?.({ limit }) as number);
    }
    // All reads that a partner may have in flight fit at the default limit, beside other answers.
    expect(READ_SHARE.log * (answer_bytes?.({ limit: 100 }) as number)).toBeLessThan(
      0.9 * ANSWER_BYTES_SHARE,
    );
  },
);

const failedPage = (payload: string, count: number): object => ({
  total: count,
  after: 'x'.repeat(100),
  events: Array.from({ length: count }, () => ({
    event_id: `evt_${'x'.repeat(43)}`,
    event: 'phone.messaging_limit_tier_updated',
    waba_id: '9'.repeat(20),
    phone_number_id: '8'.repeat(20),
    status: 'retrying',
    attempts: 1_000,
    created_at: new Date(),
    last_attempt_at: new Date(),
    next_attempt_at: new Date(),
    last_http_status: 500,
    last_error: 'x'.repeat(80),
    payload,
  })),
});
