// The limit of a network, with a real Redis and without one.
import { ApiError } from '@bmg/common/errors';
import { useRedis } from '../../../services/common/test/redis';
import { createNetworkLimit, LOGIN_LIMIT, WINDOW_S, type NetworkLimit } from './network-limit';

const { shared, down } = useRedis();

/** How many attempts in a row are allowed. */
async function allowedAttempts(limits: NetworkLimit[], address: string): Promise<number> {
  for (let count = 0; count < 3 * LOGIN_LIMIT.max; count += 1) {
    const limit = limits[count % limits.length] as NetworkLimit;
    const refused = await limit.take(address).catch((error: unknown) => error);
    if (refused === undefined) continue;
    expect(refused).toBeInstanceOf(ApiError);
    expect(refused).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', retry_after_s: WINDOW_S });
    return count;
  }
  return Infinity;
}

test('two replicas share the count of an address', async () => {
  const replicas = [
    createNetworkLimit(shared, LOGIN_LIMIT),
    createNetworkLimit(shared, LOGIN_LIMIT),
  ];
  expect(await allowedAttempts(replicas, '192.0.2.1')).toBe(LOGIN_LIMIT.max);
  expect(await allowedAttempts(replicas, '192.0.2.2')).toBe(LOGIN_LIMIT.max);
});

test('the count expires', async () => {
  await createNetworkLimit(shared, LOGIN_LIMIT).take('192.0.2.3');
  const left_s = await shared.redis.ttl('bmg:{login:192.0.2.3}:attempts');
  expect(left_s).toBeGreaterThan(0);
  expect(left_s).toBeLessThanOrEqual(WINDOW_S);
});

test('each replica counts by itself while Redis is down', async () => {
  expect(await allowedAttempts([createNetworkLimit(down, LOGIN_LIMIT)], '192.0.2.4')).toBe(
    LOGIN_LIMIT.max,
  );
});
