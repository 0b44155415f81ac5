import { openRedis } from '@bmg/common/redis';
import { eventually } from '../../../../test/testkit/eventually';
import { createRequeueRuns } from './requeue-runs';

const silent = { warn: () => undefined, info: () => undefined } as never;
const connection = openRedis(
  {
    REDIS_URL: process.env['REDIS_URL'] ?? '',
    REDIS_KEY_PREFIX: `runs-${process.pid}-${Date.now()}:`,
  },
  silent,
);
beforeAll(() => connection.start(new AbortController().signal));
afterAll(() => connection.stop());

/** Two replicas; the requeues take place one after the other at `finish`. */
function replicas() {
  let runs = 0;
  let finish: (queued: number) => void = () => undefined;
  const requeue = (): Promise<number> => {
    runs += 1;
    return new Promise<number>((resolve) => (finish = resolve));
  };
  const [one, two] = [
    createRequeueRuns(connection, requeue),
    createRequeueRuns(connection, requeue),
  ];
  return { one, two, runs: () => runs, finish: (queued: number) => finish(queued) };
}
/** Until each call has looked in Redis for another run: commands are answered in order. */
async function untilAsked(): Promise<void> {
  for (let time = 0; time < 3; time += 1) await connection.redis.ping();
}

test('runs once for the calls on all replicas, which get its count', async () => {
  const { one, two, runs, finish } = replicas();
  const started = one.run('ptn_1');
  await eventually(() => runs() === 1);
  const calls = [one.run('ptn_1'), two.run('ptn_1'), two.run('ptn_1')];
  await untilAsked();
  finish(7);
  expect(await started).toEqual({ queued: 7, joined: false });
  for (const call of calls) expect(await call).toEqual({ queued: 7, joined: true });
  expect(runs()).toBe(1);
});

test('runs again for a call after a run, so that newly failed deliveries are queued', async () => {
  let failed = 7;
  const requeue = (): Promise<number> => Promise.resolve(failed);
  const [one, two] = [
    createRequeueRuns(connection, requeue),
    createRequeueRuns(connection, requeue),
  ];
  expect(await one.run('ptn_6')).toEqual({ queued: 7, joined: false });
  failed = 9;
  expect(await two.run('ptn_6')).toEqual({ queued: 9, joined: false });
});

test('gives a call soon after a large run its count, and runs no second one', async () => {
  const requeue = jest.fn(async () => 1_000);
  const [one, two] = [
    createRequeueRuns(connection, requeue),
    createRequeueRuns(connection, requeue),
  ];
  expect(await one.run('ptn_7')).toEqual({ queued: 1_000, joined: false });
  expect(await two.run('ptn_7')).toEqual({ queued: 1_000, joined: true });
  expect(requeue).toHaveBeenCalledTimes(1);
});

test('runs each partner on its own', async () => {
  const { one, runs, finish } = replicas();
  const first = one.run('ptn_2');
  await eventually(() => runs() === 1);
  finish(1);
  const second = one.run('ptn_3');
  await eventually(() => runs() === 2);
  finish(2);
  expect(await first).toEqual({ queued: 1, joined: false });
  expect(await second).toEqual({ queued: 2, joined: false });
  expect(runs()).toBe(2);
});

test('runs again at once after a failure', async () => {
  const failing = createRequeueRuns(connection, () => Promise.reject(new Error('no store')));
  await expect(failing.run('ptn_4')).rejects.toThrow('no store');
  const working = createRequeueRuns(connection, () => Promise.resolve(3));
  expect(await working.run('ptn_4')).toEqual({ queued: 3, joined: false });
});

test('runs without Redis, one at a time', async () => {
  const away = { redis: { set: rejects, get: rejects, del: rejects } } as never;
  const runs = createRequeueRuns(away, () => Promise.resolve(2));
  const calls = await Promise.all([runs.run('ptn_5'), runs.run('ptn_5')]);
  expect(calls).toEqual([
    { queued: 2, joined: false },
    { queued: 2, joined: true },
  ]);
});

const rejects = (): Promise<never> => Promise.reject(new Error('away'));
