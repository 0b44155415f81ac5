import fc from 'fast-check';
import { aTestEvent } from '../../../../test/testkit/destination-events';
import {
  EventRefused,
  SendFailed,
  SENT,
  TIMES,
  type DestinationEvent,
  type Sent,
} from './destination';
import { createGatherer, WAITING_EVENTS_MAX, type GathererOptions } from './gatherer';

const event = (event_id: string, ordering_key?: string, bytes = 10): DestinationEvent =>
  aTestEvent({ event_id, ordering_key, body: Buffer.alloc(bytes, 'x') });
const ids = (events: readonly DestinationEvent[]): string => events.map((e) => e.event_id).join();

interface Write {
  ids: string;
  signal: AbortSignal;
  end(sent?: Sent[]): void;
  fail(error: Error): void;
}

/** A gatherer whose writes end when the test says so. */
function gathered(options: Partial<GathererOptions> = {}) {
  const writes: Write[] = [];
  const resets: number[] = [];
  const gatherer = createGatherer({
    limits: { events: 3, bytes: 100, event_bytes: 50 },
    times: TIMES,
    atomic: false,
    write: (events, signal) =>
      new Promise((resolve, reject) => {
        writes.push({
          ids: ids(events),
          signal,
          end: (sent = events.map(() => SENT)) => resolve(sent),
          fail: reject,
        });
      }),
    reset: () => resets.push(writes.length),
    ...options,
  });
  /** Ends a write, and lets the next one begin. */
  const end = (at: number, sent?: Sent[]): Promise<unknown> => {
    writes[at]?.end(sent);
    return settle();
  };
  return { gatherer, writes, resets, end };
}

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());
const settle = (ms = 0) => jest.advanceTimersByTimeAsync(ms);

test('events that arrive during a write are the next batch, within the limits', async () => {
  const { gatherer, writes, end } = gathered();
  const send = (id: string) => gatherer.send([event(id)]);
  const all = [send('a')];
  await settle();
  all.push(...['b', 'c', 'd', 'e'].map(send));
  for (const at of [0, 1, 2]) await end(at);
  expect(await Promise.all(all)).toEqual(all.map(() => [SENT]));
  expect(writes.map((one) => one.ids)).toEqual(['a', 'b,c,d', 'e']);
});

test('a batch stays within its bytes', async () => {
  const { gatherer, writes } = gathered();
  void gatherer.send(['a', 'b', 'c'].map((id) => event(id, undefined, 40)));
  await settle();
  expect(writes[0]?.ids).toBe('a,b');
});

test('waits for more events up to its time, and no longer once a batch is full', async () => {
  const { gatherer, writes, end } = gathered({ wait_ms: 2_000 });
  void gatherer.send([event('a')]);
  await settle(1_900);
  expect(writes).toHaveLength(0);
  void gatherer.send([event('b')]);
  await settle(100);
  expect(writes.map((one) => one.ids)).toEqual(['a,b']);
  await end(0);
  void gatherer.send(['c', 'd', 'e'].map((id) => event(id)));
  await settle();
  expect(writes[1]?.ids).toBe('c,d,e');
});

test('an event too large is refused for good, and the others are sent', async () => {
  const { gatherer, writes } = gathered();
  const sending = gatherer.send([event('a', 'k', 51), event('b', 'k')]);
  await settle();
  writes[0]?.end();
  expect(await sending).toEqual([
    { ok: false, error: 'event too large: 51 bytes, the limit is 50', permanent: true },
    SENT,
  ]);
});

test('a batch holds one event of a key, and a failure stops the later ones of its call', async () => {
  const { gatherer, writes, end } = gathered();
  const sending = gatherer.send(['a1', 'a2', 'b1', 'b2'].map((id) => event(id, id.slice(0, 1))));
  await settle();
  expect(writes[0]?.ids).toBe('a1,b1');
  await end(0, [{ ok: false, error: 'refused', permanent: false }, SENT]);
  expect(writes[1]?.ids).toBe('b2');
  await end(1);
  expect((await sending).map((sent) => (sent.ok ? 'ok' : sent.error))).toEqual([
    'refused',
    'an earlier event of the conversation failed',
    'ok',
    'ok',
  ]);
});

test('an atomic batch holds several events of a key, and none overtakes one that stays', async () => {
  const { gatherer, writes, end } = gathered({ atomic: true });
  void gatherer.send([event('a1', 'a', 50), event('b1', 'b', 40)]);
  void gatherer.send([event('c1', 'c', 50), event('c2', 'c', 5), event('c3', 'c', 5)]);
  await settle();
  expect(writes[0]?.ids).toBe('a1,b1');
  await end(0);
  expect(writes[1]?.ids).toBe('c1,c2,c3');
});

test('a batch holds one group', async () => {
  const { gatherer, writes, end } = gathered({ groupOf: ({ event_id }) => event_id.slice(0, 1) });
  void gatherer.send([event('a1'), event('b1', 'k'), event('a2'), event('a3', 'k')]);
  await settle();
  for (const at of [0, 1]) await end(at);
  expect(writes.map((one) => one.ids)).toEqual(['a1,a2', 'b1', 'a3']);
});

test('a write that hangs fails at its time limit, and the next has a new connection', async () => {
  const { gatherer, writes, resets } = gathered();
  const first = gatherer.send([event('a')]);
  await settle();
  const second = gatherer.send([event('b')]);
  await settle(8_000);
  expect(await first).toEqual([{ ok: false, error: 'timeout', permanent: false }]);
  expect(writes[0]?.signal.aborted).toBe(true);
  expect(resets).toEqual([1]);
  writes[1]?.end();
  expect(await second).toEqual([SENT]);
});

test('an event that waits longer than its limit fails without being sent', async () => {
  const { gatherer, writes } = gathered({ limits: { events: 1, bytes: 100, event_bytes: 50 } });
  const sending = ['a', 'b', 'c'].map((id) => gatherer.send([event(id)]));
  await settle(10_000);
  const results = (await Promise.all(sending)).flat();
  expect(results.map((sent) => !sent.ok && sent.error)).toEqual(['timeout', 'timeout', 'timeout']);
  expect(writes.map((one) => one.ids)).toEqual(['a', 'b']);
});

test('the waiting events have a bound', async () => {
  const { gatherer } = gathered();
  const many = Array.from({ length: WAITING_EVENTS_MAX + 1 }, (_one, at) => event(String(at)));
  const results = gatherer.send(many);
  await settle(10_000);
  expect((await results).at(-1)).toEqual({
    ok: false,
    error: 'too many events waiting',
    permanent: false,
  });
});

test('one refused event of a batch is found, and the others are sent', async () => {
  const written: string[] = [];
  const { gatherer } = gathered({
    async write(events) {
      written.push(ids(events));
      if (ids(events).includes('bad')) throw new EventRefused('event too large for the topic');
      return events.map(() => SENT);
    },
  });
  const sending = gatherer.send([event('a'), event('bad'), event('c')]);
  await settle();
  expect(await sending).toEqual([
    SENT,
    { ok: false, error: 'event too large for the topic', permanent: true },
    SENT,
  ]);
  expect(written).toEqual(['a,bad,c', 'a', 'bad', 'c']);
});

test('a write that throws fails its batch with a short text, and a bug of ours with no text of its own', async () => {
  const { gatherer, writes } = gathered();
  const first = gatherer.send([event('a')]);
  await settle();
  writes[0]?.fail(new SendFailed('no such topic'));
  expect(await first).toEqual([{ ok: false, error: 'no such topic', permanent: false }]);
  const second = gatherer.send([event('a')]);
  await settle();
  writes[1]?.fail(new Error('password=secret'));
  expect(await second).toEqual([{ ok: false, error: 'failed', permanent: false }]);
});

test.each<[name: string, options: Partial<GathererOptions>]>([
  [
    'an event has no group',
    {
      groupOf({ event_id }) {
        if (event_id === 'bad') throw new RangeError('Invalid time value');
        return '';
      },
    },
  ],
  [
    'a write throws before it returns a promise',
    {
      write(events) {
        if (ids(events) === 'bad') throw new TypeError('undefined');
        return Promise.resolve(events.map(() => SENT));
      },
    },
  ],
])('sends the next events after an exception because %s', async (_name, options) => {
  const { gatherer } = gathered({
    write: async (events) => events.map(() => SENT),
    ...options,
  });
  const first = gatherer.send([event('bad')]);
  await settle(10_000);
  expect(await first).toEqual([{ ok: false, error: 'failed', permanent: false }]);
  const second = gatherer.send([event('a')]);
  await settle(10_000);
  expect(await second).toEqual([SENT]);
});

test('sends the next events although the reset after a hung write throws', async () => {
  const { gatherer, writes } = gathered({
    reset() {
      throw new TypeError('undefined');
    },
  });
  const first = gatherer.send([event('a')]);
  await settle(8_000);
  expect(await first).toEqual([{ ok: false, error: 'timeout', permanent: false }]);
  const second = gatherer.send([event('b')]);
  await settle();
  writes[1]?.end();
  expect(await second).toEqual([SENT]);
});

test('sends an event that arrives in any tick after the one before has its result', async () => {
  const { gatherer } = gathered({ write: async (events) => events.map(() => SENT) });
  const results: Sent[][] = [];
  const sending = (async () => {
    for (let ticks = 0; ticks < 12; ticks += 1) {
      results.push(await gatherer.send([event('a')]));
      for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
    }
  })();
  await settle(60_000);
  await sending;
  expect(results).toEqual(results.map(() => [SENT]));
});

test('drain sends what waits without its wait, and refuses new events', async () => {
  const { gatherer, writes } = gathered({ wait_ms: 60_000 });
  const sending = gatherer.send([event('a')]);
  await settle();
  const drained = gatherer.drain();
  await settle();
  writes[0]?.end();
  await drained;
  expect(await sending).toEqual([SENT]);
  expect(await gatherer.send([event('b')])).toEqual([
    { ok: false, error: 'destination closed', permanent: false },
  ]);
});

test('whatever fails, no later event of a key and call is stored without the earlier ones', async () => {
  const arrivals = fc.array(
    fc.record({ key: fc.nat(2), bytes: fc.integer({ min: 1, max: 50 }), fails: fc.boolean() }),
    { minLength: 1, maxLength: 25 },
  );
  await fc.assert(
    fc.asyncProperty(arrivals, async (list) => {
      const fails = new Set(list.flatMap(({ fails }, at) => (fails ? [String(at)] : [])));
      const stored: string[] = [];
      const { gatherer } = gathered({
        async write(events) {
          return events.map((one): Sent => {
            if (fails.has(one.event_id)) return { ok: false, error: 'no', permanent: false };
            stored.push(one.event_id);
            return SENT;
          });
        },
      });
      const events = list.map(({ key, bytes }, at) => event(String(at), `k${key}`, bytes));
      const sending = gatherer.send(events);
      await settle();
      const results = await sending;
      expect(results.map((sent, at) => sent.ok === stored.includes(String(at)))).not.toContain(
        false,
      );
      for (const key of [0, 1, 2]) {
        const of_key = list.flatMap((one, at) => (one.key === key ? [at] : []));
        const until = of_key.findIndex((at) => fails.has(String(at)));
        const wanted = until < 0 ? of_key : of_key.slice(0, until);
        expect(stored.filter((id) => list[Number(id)]?.key === key)).toEqual(wanted.map(String));
      }
    }),
  );
});
