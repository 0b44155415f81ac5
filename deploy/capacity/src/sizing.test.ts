// Rules that sizing must follow for any measured costs.
import { ASSUMED, limitsOf, sizeFor, type Measured } from './sizing';

const measured: Measured = {
  source: 'a test',
  cpu_s_per_1000_sends: { gateway: 0.3, mongo: 0.1, redis: 0.02 },
  cpu_s_per_1000_events: { webhooks: 0.24, fanout: 0.12, redis: 0.01 },
  cpu_s_per_1000_lives: {
    50: { webhooks: 3, fanout: 2, redis: 0.4 },
    150: { webhooks: 2, fanout: 1, redis: 0.3 },
    full: { webhooks: 0.6, fanout: 0.3, redis: 0.1 },
  },
  bytes: {
    upstream_webhook: 1_000,
    event: 1_000,
    delivery: 1_000,
    message_record: 400,
    counted_message: 300,
    stored_delivery: 1_000,
    logged_event: 600,
    seen_event: 100,
    message_statuses: 200,
  },
  memory_mib: {},
};
const replicas = (sends: number, events: number, name: string): number | undefined =>
  sizeFor({ sends, events }, measured).services.find((part) => part.name === name)?.replicas;

test('a small load still gets a spare replica', () => {
  expect(replicas(1, 1, 'gateway')).toBe(2);
});

test('ten times the load needs about ten times the replicas, plus a spare one', () => {
  // 10,000 sends per second use 3 cores: 5 processes at 60 %.
  expect(replicas(10_000, 0, 'gateway')).toBe(6);
  expect(replicas(100_000, 0, 'gateway')).toBe(51);
});

test('webhooks gets replicas for its attempts in flight, even if they need little CPU', () => {
  const cheap = { ...measured, cpu_s_per_1000_events: { webhooks: 0.001 } };
  const { services } = sizeFor({ sends: 0, events: 100_000 }, cheap);
  expect(services.find(({ name }) => name === 'webhooks')?.replicas).toBe(
    Math.ceil((100_000 * ASSUMED.receiver_s) / ASSUMED.attempts_in_flight) + 1,
  );
});

test('every consumer has a partition, and partitions come in dozens', () => {
  const { partitions, services } = sizeFor({ sends: 0, events: 100_000 }, measured);
  const webhooks = services.find(({ name }) => name === 'webhooks')?.replicas ?? 0;
  expect(partitions.delivery).toBeGreaterThanOrEqual(webhooks);
  expect(partitions.delivery % 12).toBe(0);
  expect(sizeFor({ sends: 1, events: 1 }, measured).partitions.delivery).toBe(12);
});

test('sizes engines by the limit that is reached first', () => {
  const { kafka, mongo } = sizeFor({ sends: 10_000, events: 40_000 }, measured);
  expect(kafka.brokers).toBe(
    Math.max(
      Math.ceil(kafka.mb_per_s / ASSUMED.broker_mb_per_s),
      Math.ceil(kafka.disk_tb / ASSUMED.broker_disk_tb),
    ),
  );
  expect(mongo.writes_per_s).toBe(10_000 + 4 * 40_000);
  expect(mongo.limit).toBe('disk');
});

test('Redis needs memory for the events of a day and the statuses of two', () => {
  const { redis } = sizeFor({ sends: 0, events: 10_000 }, measured);
  expect(redis.memory_gb).toBeCloseTo(172.8);
  expect(redis.servers).toBe(6);
});

test('the event log needs its disk, without any sends', () => {
  const { mongo } = sizeFor({ sends: 0, events: 1_000 }, measured);
  // 600 bytes, 30 days and 1.6 times for indexes: 2.5 TB.
  expect(mongo.disk_tb).toBeCloseTo(2.49, 2);
});

test('names what ends first when the rate grows', () => {
  const limits = limitsOf(measured);
  const at = (part: string): number =>
    limits.find(({ name }) => name.includes(part))?.lives_per_s ?? NaN;
  expect(limits[0]?.name).toContain('coexistence');
  // One write for the send, and four for each of three statuses.
  expect(at('writes')).toBeCloseTo(ASSUMED.set_writes_per_s / 13);
  // A process at 60 % takes 1,000 lives a second, and each partition has one.
  expect(at('webhooks')).toBeCloseTo(12 * 1_000);
  expect(limits.map(({ lives_per_s }) => lives_per_s)).toEqual(
    limits.map(({ lives_per_s }) => lives_per_s).sort((one, other) => one - other),
  );
});
