// The loss rate of each number and day, counted by all replicas together.
import { randomUUID } from 'node:crypto';
import { openRedis, type RedisConnection } from '@bmg/common/redis';
import { createLogger, metrics } from '@bmg/common/telemetry';
import { createLosses } from './losses';
import { eventually } from '../../../../test/testkit/eventually';

let redis: RedisConnection;
beforeAll(async () => {
  redis = openRedis(
    { REDIS_URL: process.env['REDIS_URL'] as string, REDIS_KEY_PREFIX: `${randomUUID()}:` },
    createLogger('test'),
  );
  await redis.start(new AbortController().signal);
});
afterAll(() => redis.stop());

const statuses = (count: number, repaired = 0) =>
  Array.from({ length: count }, (_one, index) => ({ reconciled: index < repaired }));

const ratios = async (): Promise<Record<string, number>> =>
  Object.fromEntries(
    (await metrics.statuses_lost_ratio.get()).values.map(({ labels, value }) => [
      labels['phone_number_id'],
      value,
    ]),
  );

test('is the share of repaired statuses of a number on the day, from every replica', async () => {
  const days = ['2026-11-01T12:00:00Z', '2026-11-02T12:00:00Z'].map((text) => new Date(text));
  let day = 0;
  const now = (): Date => days[day] as Date;
  const [one, other] = [createLosses(redis, now), createLosses(redis, now)];
  one.count('800', statuses(100));
  other.count('800', statuses(100, 10));
  one.count('801', statuses(200));
  // Too few to be significant.
  one.count('802', statuses(10, 10));
  const published = await eventually(async () => {
    await createLosses(redis, now).publish();
    const found = await ratios();
    return found['800'] !== undefined && found;
  });
  expect(published).toEqual({ '800': 0.05 });
  day = 1;
  await createLosses(redis, now).publish();
  expect(await ratios()).toEqual({});
  one.count('800', statuses(200, 20));
  await eventually(async () => {
    await createLosses(redis, now).publish();
    return (await ratios())['800'] === 0.1;
  });
});
