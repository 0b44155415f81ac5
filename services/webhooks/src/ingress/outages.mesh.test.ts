import { createLogger } from '@bmg/common/telemetry';
import type { Outage } from '@bmg/proto/stream';
import { eventually } from '../../../../test/testkit/eventually';
import { testDatabase } from '../../../../test/testkit/database';
import { createOutageWatch, HEARTBEATS, type OutageWatch } from './outages';

const db = testDatabase();
let clock: number;
let recorded: Outage[];
let watch: OutageWatch | undefined;

beforeEach(async () => {
  clock = Date.parse('2026-09-21T12:00:00Z');
  recorded = [];
  await db.collection(HEARTBEATS).deleteMany({});
});
afterEach(() => watch?.stop());

const alive_at = async (): Promise<number | undefined> =>
  (await db.collection(HEARTBEATS).findOne())?.['alive_at']?.getTime();

async function start(publish: () => void = () => {}): Promise<OutageWatch> {
  watch = createOutageWatch({
    db,
    now: () => new Date(clock),
    log: createLogger('outages-test'),
    bus: {
      publish: async (messages) => {
        publish();
        for (const { message } of messages) recorded.push(message as Outage);
      },
    },
  });
  await watch.start(new AbortController().signal);
  await eventually(async () => (await alive_at()) === clock);
  return watch;
}

/** Lets the time pass, and waits for the heartbeat. */
async function beat(running: OutageWatch, after_ms: number): Promise<void> {
  clock += after_ms;
  running.wake();
  await eventually(async () => (await alive_at()) === clock);
}

test('records the time in which no replica ran, once', async () => {
  const from = new Date(clock);
  await (await start()).stop();
  expect(recorded).toEqual([]);
  clock += 60_000;
  await (await start()).stop();
  expect(recorded).toEqual([{ from_ms: from.getTime(), to_ms: clock }]);
  clock += 5_000;
  await start();
  expect(recorded).toHaveLength(1);
});

test('records a run of refusals when a webhook is accepted again', async () => {
  const running = await start();
  const from = new Date(clock);
  for (const status of [503, 401, 503]) running.answered(status);
  clock += 10_000;
  running.answered(200);
  await eventually(() => recorded.length === 1);
  expect(recorded).toEqual([{ from_ms: from.getTime(), to_ms: clock }]);
});

test('wrong signatures are an outage only if no webhook is accepted for a while', async () => {
  const running = await start();
  for (const status of [401, 401, 401, 401, 200]) running.answered(status);
  await beat(running, 1_000);
  expect(recorded).toEqual([]);
  const from = new Date(clock);
  for (const status of [401, 401, 401]) running.answered(status);
  clock += 20_000;
  running.answered(200);
  await eventually(() => recorded.length === 1);
  expect(recorded).toEqual([{ from_ms: from.getTime(), to_ms: clock }]);
});

test('records outages by refusals once in ten minutes, later ones as one', async () => {
  const running = await start();
  const refuse = (): void => {
    for (const status of [503, 503, 503, 200]) running.answered(status);
  };
  refuse();
  await eventually(() => recorded.length === 1);
  const first = clock;
  // In steps: a long silence would be an outage of its own.
  const step = (): Promise<void> => beat(running, 10_000);
  await step();
  const from = new Date(clock);
  refuse();
  await step();
  // A long one is recorded all the same.
  for (const status of [503, 503, 503]) running.answered(status);
  for (let lasted = 0; lasted < 3; lasted += 1) await step();
  running.answered(200);
  await step();
  expect(recorded).toHaveLength(1);
  while (clock < first + 600_000) await step();
  expect(recorded.slice(1)).toEqual([{ from_ms: from.getTime(), to_ms: clock }]);
});

test('a refusal between accepted webhooks is no outage', async () => {
  const running = await start();
  for (const status of [503, 503, 200, 401, 413, 400, 503]) running.answered(status);
  await beat(running, 1_000);
  expect(recorded).toEqual([]);
});

test('records an outage later if Kafka does not take it', async () => {
  const from = new Date(clock);
  await (await start()).stop();
  clock += 60_000;
  let failures = 0;
  const starting = start(() => {
    failures += 1;
    if (failures === 1) throw new Error('Kafka is unreachable');
  });
  await eventually(() => failures === 1);
  await eventually(() => {
    watch?.wake();
    return recorded.length === 1;
  });
  await starting;
  expect(recorded).toEqual([{ from_ms: from.getTime(), to_ms: clock }]);
});
