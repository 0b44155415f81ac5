// The log of the last calls, with a real Redis and without one.
import { useRedis } from '../../../services/common/testing/redis';
import { createRequestLog, REQUESTS_MAX, type LoggedRequest } from './request-log';

const { shared, down, log } = useRedis();

const aRequest = (at: number): LoggedRequest => ({
  at,
  method: 'POST',
  path: '/messages/send',
  status: 400,
  code: 'MISSING_FIELDS',
  duration_ms: 1.5,
  request_id: `req-${at}`,
  ignored: at % 2 ? 'read_receipt' : null,
  upstream_code: at % 3 ? 132_001 : null,
});

test('keeps the last calls of each partner, of all replicas, newest first', async () => {
  const [one, other] = [createRequestLog(shared, log), createRequestLog(shared, log)];
  one.record('ptn_1', aRequest(1));
  other.record('ptn_1', aRequest(2));
  one.record('ptn_1', aRequest(3));
  one.record('ptn_2', aRequest(4));
  await one.stop();
  await other.stop();
  expect(await other.read('ptn_1')).toEqual([aRequest(3), aRequest(2), aRequest(1)]);
  expect(await one.read('ptn_2')).toEqual([aRequest(4)]);
  expect(await one.read('ptn_3')).toEqual([]);
});

test('is bounded in number and time', async () => {
  const requests = createRequestLog(shared, log);
  for (let round = 0; round < 2; round += 1) {
    for (let at = 0; at < 2 * REQUESTS_MAX; at += 1) {
      requests.record('ptn_4', aRequest(round * 1_000 + at));
    }
    await requests.stop();
  }
  const kept = await requests.read('ptn_4');
  expect(kept).toHaveLength(REQUESTS_MAX);
  expect(kept[0]).toEqual(aRequest(1_000 + 2 * REQUESTS_MAX - 1));
  expect(await shared.redis.ttl('bmg:{ptn_4}:requests')).toBeGreaterThan(80_000);
});

test('drops calls while Redis is down, and reports that it cannot be read', async () => {
  const requests = createRequestLog(down, log);
  requests.record('ptn_5', aRequest(1));
  await requests.stop();
  await expect(requests.read('ptn_5')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});
