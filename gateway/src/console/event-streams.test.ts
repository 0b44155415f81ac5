// Streams of events over HTTP, from a log that the test writes.
import type Router from '@koa/router';
import { ApiError } from '@bmg/common/errors';
import type { Call, Client } from '@bmg/common/rpc';
import type { EventLogDefinition, ListEventsResponse, LoggedEvent } from '@bmg/proto/webhooks';
import { createEventStreams, type EventStreams } from './event-streams';
import { createLoad, STREAM_SHARE, type Load } from '../limits/load';
import { useApp } from '../../test/app';
import { eventually } from '../../../test/testkit/eventually';

const { start, log } = useApp();

const anEvent = (seq: number): LoggedEvent => ({
  seq,
  event_id: `evt_${seq}`,
  event: 'message.received',
  waba_id: '900',
  envelope: '{"event":"message.received","data":{"text":"Call me"}}',
  received_at: new Date(0),
  logged_at: new Date(0),
  delivery: undefined,
  trace_id: undefined,
});

/** The log's next answers; after these it fails. */
let pages: Array<LoggedEvent[] | 'wait'>;
let asked: Array<{ after?: number | undefined; partner_id?: string | undefined }>;
let check: () => Promise<unknown>;
let read_older: ((after: number) => Promise<object>) | undefined;
let load: Load;
let streams: EventStreams;
let url: string;

const events = {
  async listEvents(
    request: { after?: number; partner_id?: string },
    { signal }: Call,
  ): Promise<ListEventsResponse> {
    asked.push(request);
    if (read_older) return (await read_older(request.after ?? 0)) as ListEventsResponse;
    const next = pages.shift();
    if (next === 'wait') {
      await new Promise((_resolve, reject) =>
        signal?.addEventListener('abort', () => reject(new Error('cancelled')), { once: true }),
      );
    }
    if (next === undefined) throw new ApiError('SERVICE_UNAVAILABLE', 'the log is unavailable');
    const found = next as LoggedEvent[];
    const last = found.at(-1)?.seq ?? request.after ?? 0;
    return { events: found, next: last, has_more: false, oldest: 1, newest: last };
  },
} as unknown as Client<EventLogDefinition>;

beforeEach(async () => {
  asked = [];
  check = async () => undefined;
  read_older = undefined;
  load = createLoad(100, log);
  streams = createEventStreams({ events, load, shows_texts: false, log });
  const port = await start({
    endpoints: [],
    extend: (router: Router) =>
      router.get('/stream', (context) =>
        streams.open(context, { partner_id: 'ptn_1', check: () => check() }),
      ),
  });
  url = `http://127.0.0.1:${port}/stream`;
});
afterEach(() => streams.stop());

test('sends events with their positions, heartbeats without events, and continues after each', async () => {
  pages = [[anEvent(5), anEvent(6)], [], [anEvent(7)]];
  const answer = await fetch(`${url}?after=4`);
  expect(answer.headers.get('content-type')).toBe('text/event-stream');
  const blocks = (await answer.text()).trim().split('\n\n');
  expect(blocks.map((block) => block.split('\n')[0])).toEqual([
    'retry: 2000',
    'id: 5',
    'id: 6',
    ': heartbeat',
    'id: 7',
  ]);
  expect(JSON.parse((blocks[1] as string).split('data: ')[1] as string)).toMatchObject({
    seq: 5,
    event_id: 'evt_5',
    envelope: { event: 'message.received', data: { text: null } },
  });
  expect(asked.map(({ after }) => after)).toEqual([4, 6, 6, 7]);
  expect(new Set(asked.map(({ partner_id }) => partner_id))).toEqual(new Set(['ptn_1']));
});

test('resumes after the last event that the browser has', async () => {
  pages = [[anEvent(9)]];
  await (await fetch(`${url}?after=4`, { headers: { 'last-event-id': '8' } })).text();
  expect(asked[0]?.after).toBe(8);
});

test('ends with its session', async () => {
  pages = [[], 'wait'];
  check = async () => {
    throw new ApiError('UNAUTHORIZED', 'the session is over');
  };
  const text = await (await fetch(`${url}?after=0`)).text();
  expect(text).toContain(': heartbeat');
  expect(pages).toEqual(['wait']);
});

test('ends at shutdown, after the events that it has', async () => {
  pages = [[anEvent(1)], 'wait'];
  const answer = await fetch(`${url}?after=0`);
  streams.drain?.();
  expect(await answer.text()).toContain('id: 1');
});

test('answers a failed first read, and an invalid position, as an ordinary error', async () => {
  pages = [];
  expect((await fetch(`${url}?after=0`)).status).toBe(503);
  const refused = async (query: string, headers = {}) => {
    const answer = await fetch(url + query, { headers });
    const { error } = (await answer.json()) as { error: { message: string } };
    return [answer.status, error.message];
  };
  expect(await refused('')).toEqual([400, expect.stringContaining('after is required')]);
  expect(await refused('?after=x')).toEqual([400, expect.stringContaining('after')]);
  expect(await refused('', { 'last-event-id': '-1' })).toEqual([
    400,
    expect.stringContaining('Last-Event-ID'),
  ]);
});

test('streams of one partner read older events a page at a time, and not faster than its reads', async () => {
  const pages_each = 2;
  const older = { ...anEvent(1), envelope: JSON.stringify({ text: 'x'.repeat(10_000) }) };
  let reading = 0;
  let at_once = 0;
  read_older = async (after) => {
    reading += 1;
    at_once = Math.max(at_once, reading);
    await new Promise((resolve) => setTimeout(resolve, 5));
    reading -= 1;
    if (after === pages_each) throw new ApiError('INTERNAL_ERROR', 'the end');
    return { events: [{ ...older, seq: after + 1 }], next: after + 1, has_more: true };
  };
  const turn = jest.spyOn(load.read_rate, 'turn');
  const count = jest.spyOn(load.read_rate, 'count');
  const started = performance.now();
  await Promise.all(
    Array.from({ length: STREAM_SHARE }, async () => (await fetch(`${url}?after=0`)).text()),
  );
  expect(at_once).toBe(1);
  expect(turn).toHaveBeenCalledTimes(STREAM_SHARE * (pages_each + 1));
  const bytes = count.mock.calls.reduce((sum, [, one]) => sum + one, 0);
  expect(bytes).toBeGreaterThan(STREAM_SHARE * pages_each * 10_000);
  // 20 pages a second of all streams together.
  expect(performance.now() - started).toBeGreaterThan(STREAM_SHARE * pages_each * 50 * 0.9);
});

test('bounds the streams of one partner, and frees the place of a reader that leaves', async () => {
  pages = Array.from({ length: STREAM_SHARE + 1 }, () => [[], 'wait'] as const).flat() as never;
  const readers = Array.from({ length: STREAM_SHARE }, () => new AbortController());
  for (const { signal } of readers) {
    expect((await fetch(`${url}?after=0`, { signal })).status).toBe(200);
  }
  expect((await fetch(`${url}?after=0`)).status).toBe(429);
  readers[0]?.abort();
  pages = [[], 'wait'];
  await eventually(async () => {
    const again = new AbortController();
    const { status } = await fetch(`${url}?after=0`, { signal: again.signal });
    again.abort();
    return status === 200;
  });
});
