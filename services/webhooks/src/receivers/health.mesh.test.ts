// The health of webhook endpoints on a real database: figures, the time of failing, the bound of
// attempts, and which endpoints are disabled.
import { newId } from '@bmg/common/ids';
import { createLogger } from '@bmg/common/telemetry';
import { anAttempt } from '../../test/builders';
import type { Outcome } from '../delivery/attempt';
import { emptyDatabase, testDatabase } from '../../../../test/testkit/database';
import { eventually } from '../../../../test/testkit/eventually';
import { createReceiverHealth, RECENT_MAX, type Addition } from './store';
import { indexes } from '../collections';
import { createHealthRecorder, disableFailing, FAILING_MAX_MS } from './health';

const log = createLogger('test');
log.level = 'silent';
const HOUR_MS = 3_600_000;
/** The current hour: documents that have expired would be removed. */
const NOW = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
const DAY_MS = 24 * HOUR_MS;
const OF = { partner_id: 'ptn_1', endpoint_id: 'whe_1' };

const MADE = anAttempt({ ...OF, number: 2 });
const REFUSED: Outcome = {
  result: 'refused',
  error: 'timeout',
  posted: true,
  trace: { at: NOW, duration_ms: 7, url: '', secret: '', answer: null },
};

const db = testDatabase(indexes);
beforeEach(() => emptyDatabase(db));

const health = () => createReceiverHealth(db);
const attempt = (at: number, delivered: boolean) => ({
  event_id: `evt_${at}`,
  event: 'message.received',
  number: 1,
  at: new Date(at),
  duration_ms: 5,
  delivered,
  http_status: delivered ? 200 : 503,
  error: delivered ? null : 'HTTP 503',
});
const add = (...attempts: Array<[at: number, delivered: boolean]>): Promise<void> =>
  health().add({
    ...OF,
    id: newId('add'),
    attempts: attempts.map(([at, delivered]) => attempt(at, delivered)),
  });
const failingSince = async (): Promise<number | undefined> =>
  (await health().find('whe_1'))?.failing_since?.getTime();

test('a time of failing starts with a failure and ends with a success', async () => {
  await add([NOW + 1, true]);
  expect(await failingSince()).toBeUndefined();
  await add([NOW + 2, false], [NOW + 3, false]);
  await add([NOW + 4, false]);
  expect(await failingSince()).toBe(NOW + 2);
  await add([NOW + 5, true], [NOW + 6, false], [NOW + 7, false]);
  expect(await failingSince()).toBe(NOW + 6);
  await add([NOW + 8, false], [NOW + 9, true]);
  expect(await failingSince()).toBeUndefined();
  expect(await health().find('whe_1')).toMatchObject({
    partner_id: 'ptn_1',
    last_success_at: new Date(NOW + 9),
    last_failure_at: new Date(NOW + 8),
    last_error: 'HTTP 503',
    last_http_status: 503,
  });
});

test('counts attempts by the hour, and keeps the latest', async () => {
  await add([NOW - 30 * HOUR_MS, true]);
  await add([NOW - 3 * HOUR_MS, true], [NOW - 3 * HOUR_MS, false]);
  for (let count = 0; count < 3; count += 1) {
    await add(...Array.from({ length: 50 }, (_one, at): [number, boolean] => [NOW + at, true]));
  }
  const since = new Date(NOW - DAY_MS);
  expect(await health().countSince('whe_1', since)).toEqual({ delivered: 151, refused: 1 });
  const { recent } = (await health().find('whe_1')) as { recent: unknown[] };
  expect(recent).toHaveLength(RECENT_MAX);
  await health().remove('whe_1');
  expect(await health().find('whe_1')).toBeNull();
  expect(await health().countSince('whe_1', since)).toEqual({ delivered: 0, refused: 0 });
});

test('an addition that is repeated counts once', async () => {
  const addition = (id: string) => ({ ...OF, id, attempts: [attempt(NOW, true)] });
  for (const id of ['add_1', 'add_1', 'add_2', 'add_1']) await health().add(addition(id));
  expect(await health().countSince('whe_1', new Date(NOW - DAY_MS))).toEqual({
    delivered: 2,
    refused: 0,
  });
  expect((await health().find('whe_1'))?.recent).toHaveLength(2);
});

test('a batch whose first half was stored before an outage counts once', async () => {
  const store = health();
  let outages = 1;
  const failing = {
    ...store,
    async add(addition: Addition) {
      await store.add(addition);
      // The connection breaks after the write.
      if ((outages -= 1) >= 0) throw new Error('connection closed');
    },
  };
  const recorder = createHealthRecorder(failing, log);
  recorder.record(MADE, REFUSED);
  recorder.record({ ...MADE, endpoint_id: 'whe_2' }, REFUSED);
  await eventually(async () => (await store.find('whe_2')) !== null);
  await recorder.stop();
  for (const endpoint_id of ['whe_1', 'whe_2']) {
    expect((await store.find(endpoint_id))?.recent).toHaveLength(1);
    expect(await store.countSince(endpoint_id, new Date(NOW - DAY_MS))).toEqual({
      delivered: 0,
      refused: 1,
    });
  }
});

test('records only attempts that were posted to an endpoint', async () => {
  const recorder = createHealthRecorder(health(), log);
  recorder.record(MADE, REFUSED);
  recorder.record({ ...MADE, endpoint_id: undefined }, REFUSED);
  recorder.record(MADE, { result: 'refused', error: 'endpoint is paused', posted: false });
  await recorder.stop();
  expect((await health().find('whe_1'))?.recent).toEqual([
    {
      event_id: 'evt_1',
      event: 'message.received',
      number: 2,
      at: new Date(NOW),
      duration_ms: 7,
      delivered: false,
      http_status: null,
      error: 'timeout',
    },
  ]);
  expect(await db.collection('endpoint_health').countDocuments()).toBe(1);
});

describe('an endpoint is disabled', () => {
  const disabled: unknown[] = [];
  const round = (registry = async (request: object) => void disabled.push(request)) =>
    disableFailing({
      health: health(),
      registry: { disableEndpoint: registry } as never,
      now: () => new Date(NOW),
    });
  beforeEach(() => void disabled.splice(0));

  test('after five days of failure, once', async () => {
    const since = NOW - FAILING_MAX_MS;
    await add([since, false], [NOW - HOUR_MS, false]);
    await round();
    await round();
    expect(disabled).toEqual([{ ...OF, unless_changed_since: new Date(since) }]);
  });

  test.each<[string, Array<[number, boolean]>]>([
    ['before the five days are over', [[NOW - FAILING_MAX_MS + 1, false]]],
    [
      'with one success in between',
      [
        [NOW - FAILING_MAX_MS, false],
        [NOW - DAY_MS, true],
        [NOW - HOUR_MS, false],
      ],
    ],
    ['without attempts in the last day', [[NOW - 2 * FAILING_MAX_MS, false]]],
  ])('not %s', async (_name, attempts) => {
    await add(...attempts);
    await round();
    expect(disabled).toEqual([]);
  });

  test('in a later round, if the registry is unreachable', async () => {
    await add([NOW - FAILING_MAX_MS, false], [NOW, false]);
    await expect(round(() => Promise.reject(new Error('unreachable')))).rejects.toThrow();
    await round();
    expect(disabled).toHaveLength(1);
  });

  test('not if it was deleted: only its health is left, and is not read again', async () => {
    await add([NOW - FAILING_MAX_MS, false], [NOW, false]);
    await round(() => Promise.reject(Object.assign(new Error('none'), { code: 'NOT_FOUND' })));
    await round();
    expect(disabled).toEqual([]);
  });
});
