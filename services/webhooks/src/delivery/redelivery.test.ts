// Redelivery after a rebalance, with the bus's own tracker, the log's writer and the dispatcher:
// the committed offset reaches the end, and no event is posted twice.

import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '@bmg/common/telemetry';
import { GetReceiverResponse } from '@bmg/proto/onboarding';
import { eventually } from '../../../../test/testkit/eventually';
import { packer, unsettled } from '../../test/builders';
import { createOffsetTracker } from '../../../common/src/bus/offset-tracker';
import { Dispatcher } from './dispatcher';
import type { Receiver } from './receivers';
import type { AttemptLog } from '../event-log/attempt-log';
import { EventLogWriter } from '../event-log/writer';
import type { Bucket, EventLogStore } from '../event-log/store/buckets';

/** More than the dispatcher takes at a time, so that it waits for room in between. */
const EVENTS = 250;
/** What it takes at a time. */
const PART = 100;
const alive = async (): Promise<void> => undefined;

let posted: string[];
let delivered: Set<string>;
let logged: Set<string>;
let logged_as_delivered: string[];
let committed: number;
let receiver: Receiver;
let lookedUp: Promise<void>;
let stored: Promise<void>;
let onIntake: () => void;
let tracker: ReturnType<typeof createOffsetTracker>;
let writer: EventLogWriter;
let dispatcher: Dispatcher;

const destination = { type: '', settings: {} };
const to = (...endpoint_ids: string[]): Receiver =>
  GetReceiverResponse.fromPartial({
    status: 'active',
    endpoints: endpoint_ids.map((endpoint_id) => ({ endpoint_id, status: 'active', destination })),
  });

beforeEach(async () => {
  posted = [];
  delivered = new Set();
  logged = new Set();
  logged_as_delivered = [];
  committed = 0;
  receiver = to('a');
  lookedUp = Promise.resolve();
  stored = Promise.resolve();
  onIntake = () => undefined;
  tracker = createOffsetTracker();
  const log = createLogger('test');
  const store = {
    head: async () => stored.then(() => ({ last: 0, at: new Date(0) })),
    known: async (ids: string[]) => new Set(ids.filter((id) => logged.has(id))),
    insert: async (buckets: Bucket[]) => {
      const refused = new Map<number, string>();
      for (const [index, { events }] of buckets.entries()) {
        if (events.some(({ event_id }) => logged.has(event_id))) refused.set(index, 'event_known');
        else {
          for (const { event_id, delivered: is_delivered } of events) {
            logged.add(event_id);
            if (is_delivered) logged_as_delivered.push(event_id);
          }
        }
      }
      return refused;
    },
  } as unknown as EventLogStore;
  writer = new EventLogWriter({
    store,
    attempts: { drain: alive, add: alive } as unknown as AttemptLog,
    packer,
    log,
    onGrown: () => undefined,
  });
  dispatcher = new Dispatcher({
    deliveries: {
      waitingIn: async () => [],
      waitingOf: async () => stored.then(() => []),
      endpointsOf: async () => [],
      counts: async () => ({}),
      overdue: async () => [],
      drain: alive,
      remove: alive,
      put: alive,
    } as never,
    receivers: {
      peek: () => undefined,
      lookAhead: () => undefined,
      of: async () => lookedUp.then(() => receiver),
    },
    seen: {
      has: (id) => delivered.has(id),
      hasEach: async (ids) => {
        if (ids.length === EVENTS) onIntake();
        onIntake = () => undefined;
        return ids.map((id) => delivered.has(id));
      },
      remember: (id) => void delivered.add(id),
    },
    log,
    agent: {} as never,
    destinations: {
      send: async ({ event_id, endpoint_id }) => {
        posted.push(`${event_id} ${endpoint_id}`);
        return { result: 'delivered', error: null, posted: true };
      },
    },
    recordAttempt: ({ event_id, partner_id, waba_id, endpoint_id, number }) =>
      writer.recordAttempt({
        event_id,
        partner_id,
        waba_id,
        ...(endpoint_id !== undefined && { endpoint_id }),
        number,
        at: new Date(),
        answer: null,
      } as never),
    limits: { share: 1_000, total: 10_000 },
  });
  await dispatcher.start();
});
afterEach(async () => {
  await dispatcher.stop();
  await writer.stop();
});

/** A new assignment: Kafka's earlier one ends. */
function assign(...partitions: number[]): void {
  tracker.reset();
  dispatcher.assignPartitions(partitions);
}

/** Fetches everything from the committed offset, as the bus does. */
function fetch(count: number, heartbeat = alive): Promise<void> {
  const offsets = Array.from({ length: count - committed }, (_, index) => `${committed + index}`);
  const settle = tracker.begin(0, offsets);
  const batch = offsets.map((offset) =>
    unsettled(
      { event_id: `evt_${offset}`, partner_id: 'ptn_1', conversation: offset },
      { offset, done: () => settle(offset) },
    ),
  );
  return dispatcher.accept(writer.accept(batch), heartbeat);
}

function commit(): number {
  for (const { offset } of tracker.take()) committed = Number(offset);
  return committed;
}

async function expectAllOnce(count: number): Promise<void> {
  await eventually(() => commit() === count, 5_000);
  expect(posted).toHaveLength(count * receiver.endpoints.length);
  expect(new Set(posted).size).toBe(posted.length);
  assign(0);
  await fetch(count);
  expect(posted).toHaveLength(count * receiver.endpoints.length);
}

/**
 * The intake stops after the first part of the next batch, until the returned function is called.
 */
function holdIntake(): () => void {
  let release = (): void => undefined;
  stored = new Promise((resolve) => (release = resolve));
  onIntake = () => void dispatcher.reloadPartner('ptn_1');
  return release;
}

test.each([
  ['a rebalance', () => assign(0)],
  ['a failure without one', () => undefined],
])(
  'commits the end of the log when a heartbeat fails in the middle of an intake, after %s',
  async (_name, rejoin) => {
    assign(0);
    const release = holdIntake();
    const lost = async (): Promise<never> => Promise.reject(new Error('lost'));
    await expect(fetch(EVENTS, lost)).rejects.toThrow('lost');
    release();
    await eventually(() => posted.length === PART);
    commit();
    rejoin();
    await fetch(EVENTS);
    await expectAllOnce(EVENTS);
  },
);

test('commits the end of the log when a partition leaves in the middle of an intake and returns', async () => {
  assign(0);
  const release = holdIntake();
  const intake = fetch(EVENTS);
  await eventually(() => posted.length === PART);
  assign();
  release();
  await intake;
  expect(commit()).toBe(0);
  assign(0);
  await fetch(EVENTS);
  await expectAllOnce(EVENTS);
});

test('commits the end of the log when a partition leaves before its endpoints are known', async () => {
  receiver = to('a', 'b');
  assign(0);
  let release = (): void => undefined;
  let write = (): void => undefined;
  lookedUp = new Promise((resolve) => (release = resolve));
  stored = new Promise((resolve) => (write = resolve));
  await fetch(EVENTS);
  assign();
  release();
  await sleep(50);
  write();
  await eventually(() => logged.size === EVENTS);
  expect(logged_as_delivered).toEqual([]);
  expect(commit()).toBe(0);
  assign(0);
  await fetch(EVENTS);
  await expectAllOnce(EVENTS);
});
