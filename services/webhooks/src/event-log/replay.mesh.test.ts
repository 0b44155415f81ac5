// Replays on a real database and a real receiver: what a request reads, turns between partners, the
// end.
import { guardedAgent } from '@bmg/common/outbound';
import { createLogger } from '@bmg/common/telemetry';
import { GetReceiverResponse } from '@bmg/proto/onboarding';
import { eventually } from '../../../../test/testkit/eventually';
import { testDatabase } from '../../../../test/testkit/database';
import { useLocalServers } from '../../../common/test/local-servers';
import { appendBucket, packer } from '../../test/builders';
import { createAttemptLog } from './attempt-log';
import type { Room } from './read-budget';
import { createReader } from './reader';
import { createReplayRunner, type ReplayDependencies, type ReplayRunner } from './replay';
import { createAttempts } from './store/attempts';
import { createDeliveries } from '../delivery/store';
import { createEventLogStore, type EventLogStore } from './store/buckets';
import { indexes } from '../collections';
import { createReplays, REPLAYS } from './store/replays';

const log = createLogger('test');
log.level = 'silent';
const EVENTS_OF_BUCKET = 20;
const ROOM: Room = { reserve: async () => {}, took: () => {} };
const agent = guardedAgent({ allowPrivate: true, connectionsPerOrigin: 8 });

const db = testDatabase(indexes);
const { http } = useLocalServers();
let receiver: string;
/** The ids that the receiver got, and how long it takes to answer each partner. */
let posted: string[] = [];
let answer_ms: Record<string, number> = {};
/** The extra events that the webhook URL gets. */
let extra_events: string[] = [];
const runners: ReplayRunner[] = [];

beforeEach(async () => {
  posted = [];
  answer_ms = {};
  extra_events = [];
  receiver = await http((request, response) => {
    posted.push(String(request.headers['webhook-id']));
    const partner_id = (request.url ?? '').slice(1);
    setTimeout(() => response.end('ok'), answer_ms[partner_id] ?? 0);
  });
});
afterEach(async () => {
  for (const one of runners.splice(0)) await one.stop();
  await db.collection(REPLAYS).deleteMany({});
});
afterAll(() => agent.destroy());

/** Writes buckets of events; returns the ids. */
async function aLog(partner_id: string, buckets: number, event = 'a'): Promise<string[]> {
  const all: string[] = [];
  for (let at = 0; at < buckets; at += 1) {
    const content = { first: at * EVENTS_OF_BUCKET + 1, count: EVENTS_OF_BUCKET, event };
    all.push(...(await appendBucket(db, partner_id, content)));
  }
  return all;
}

/** Counts the calls of each method of the store. */
function counted(store: EventLogStore): { store: EventLogStore; calls: Map<string, number> } {
  const calls = new Map<string, number>();
  const proxy = new Proxy(store, {
    get(target, name: keyof EventLogStore & string) {
      calls.set(name, (calls.get(name) ?? 0) + 1);
      return target[name];
    },
  });
  return { store: proxy, calls };
}

function aRunner(
  limits: ReplayDependencies['limits'] = {},
  store: EventLogStore = createEventLogStore(db),
): ReplayRunner {
  const kept_ms = 86_400_000;
  const attempts = createAttemptLog({ attempts: createAttempts(db), packer }, kept_ms);
  const deliveries = createDeliveries(db);
  const one = createReplayRunner({
    replays: createReplays(db),
    reader: createReader({ store, attempts, deliveries, packer, kept_ms }),
    receivers: {
      lookAhead: () => undefined,
      peek: () => undefined,
      of: async (partner_id) =>
        GetReceiverResponse.fromPartial({
          ...{ webhook_url: `${receiver}/${partner_id}`, webhook_secrets: ['secret'] },
          ...{ status: 'active', extra_events },
        }),
    },
    deliveries,
    seen: { remember: () => {}, has: async () => false } as never,
    agent,
    destinations: { send: () => Promise.reject(new Error('no destination')) },
    log,
    recordAttempt: () => {},
    untrack: () => {},
    limits,
  });
  runners.push(one);
  return one;
}

const NO_FILTER = { waba_id: undefined, events: undefined, from: undefined, to: undefined };
const replayOfIds = (one: ReplayRunner, partner_id: string, event_ids: string[]) =>
  one.create({ partner_id, event_ids, ...NO_FILTER }, ROOM);
const replayOfPeriod = (one: ReplayRunner, partner_id: string) =>
  one.create({ partner_id, event_ids: [], ...NO_FILTER, from: new Date(0) }, ROOM);

const start = (one: ReplayRunner): Promise<void> => one.start(new AbortController().signal);
const ended = (one: ReplayRunner, { _id, partner_id }: { _id: string; partner_id: string }) =>
  eventually(async () => {
    const replay = await one.find(partner_id, _id);
    return replay.status !== 'running' && replay;
  });

test('a request is refused before the log is read while another replay of the partner runs', async () => {
  const ids = await aLog('ptn_first', 3);
  const { store, calls } = counted(createEventLogStore(db));
  const one = aRunner({}, store);
  const requests = Array.from({ length: 8 }, () => replayOfIds(one, 'ptn_first', ids));
  const outcomes = await Promise.allSettled(requests);
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  await expect(replayOfIds(one, 'ptn_first', ids)).rejects.toMatchObject({
    code: 'RATE_LIMIT',
    details: { replay_id: expect.stringMatching(/^rpl_/) },
  });
  expect(Object.fromEntries(calls)).toEqual({ headersOf: 1 });
});

test('a replay of a list of events opens each bucket once, in order', async () => {
  const ids = await aLog('ptn_list', 3);
  const wanted = ids.filter((_id, place) => place % 3 === 0 && (place < 20 || place >= 40));
  const { store, calls } = counted(createEventLogStore(db));
  const one = aRunner({}, store);
  const replay = await replayOfIds(one, 'ptn_list', wanted.toReversed());
  await start(one);
  expect(await ended(one, replay)).toMatchObject({
    status: 'completed',
    first: 1,
    last: 58,
    position: 58,
    delivered: wanted.length,
  });
  expect([...posted].sort()).toEqual([...wanted].sort());
  expect(calls.get('firstBucket')).toBeLessThanOrEqual(3);
  expect(calls.has('bucketsOf') || calls.has('buckets')).toBe(false);
});

test('a replay delivers extra events only to a receiver that names them', async () => {
  const ids = await aLog('ptn_extra', 1, 'call.connect');
  const one = aRunner();
  const skipped = await replayOfPeriod(one, 'ptn_extra');
  await start(one);
  expect(await ended(one, skipped)).toMatchObject({ status: 'completed', delivered: 0 });
  expect(posted).toEqual([]);
  extra_events = ['call.connect'];
  const replay = await replayOfPeriod(one, 'ptn_extra');
  expect(await ended(one, replay)).toMatchObject({
    status: 'completed',
    delivered: EVENTS_OF_BUCKET,
  });
  expect([...posted].sort()).toEqual([...ids].sort());
});

test('an unknown event of a list is named', async () => {
  const [known = ''] = await aLog('ptn_unknown', 1);
  await expect(replayOfIds(aRunner(), 'ptn_unknown', [known, 'evt_none'])).rejects.toMatchObject({
    code: 'INVALID_FIELD',
    details: { field: 'event_ids[1]' },
  });
});

test('a slow receiver gives its place to the replay of another partner, and posts nothing twice', async () => {
  await aLog('ptn_slow', 2);
  await aLog('ptn_quick', 2);
  answer_ms = { ptn_slow: 150 };
  const one = aRunner({ running_max: 1, turn_ms: 300 });
  const slow = await replayOfPeriod(one, 'ptn_slow');
  await start(one);
  await eventually(() => posted.length > 0);
  const quick = await replayOfPeriod(one, 'ptn_quick');
  expect(await ended(one, quick)).toMatchObject({ status: 'completed', delivered: 40 });
  expect(await one.find('ptn_slow', slow._id)).toMatchObject({ status: 'running' });
  expect(await ended(one, slow)).toMatchObject({ status: 'completed', delivered: 40 });
  expect(posted).toHaveLength(80);
  expect(new Set(posted).size).toBe(80);
});

test('a replay that takes too long ends, shows the rest, and can be requested again', async () => {
  const ids = await aLog('ptn_endless', 2);
  answer_ms = { ptn_endless: 200 };
  const one = aRunner({ turn_ms: 400, life_ms: 900 });
  const replay = await replayOfPeriod(one, 'ptn_endless');
  await start(one);
  const left = await ended(one, replay);
  expect(left).toMatchObject({ status: 'failed', failed_event_id: null });
  expect(left.error).toBe('not finished within 24 hours');
  expect(left.position).toBeLessThan(left.last);
  expect(posted).toEqual(expect.arrayContaining(ids.slice(0, left.position)));
  answer_ms = {};
  const again = await replayOfIds(one, 'ptn_endless', ids.slice(left.position));
  expect(await ended(one, again)).toMatchObject({ status: 'completed', last: 40 });
  expect(new Set(posted)).toEqual(new Set(ids));
});
