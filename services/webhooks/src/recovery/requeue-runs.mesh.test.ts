import { eventually } from '../../../../test/testkit/eventually';
import { useRedis } from '../../../common/test/redis';
import { createRequeueRuns } from './requeue-runs';

const { shared, down } = useRedis();
/** The runs of two replicas. */
const runsOf = (requeue: () => Promise<number>) =>
  [createRequeueRuns(shared, requeue), createRequeueRuns(shared, requeue)] as const;

/** Two replicas; the requeues take place one after the other at `finish`. */
function replicas() {
  let runs = 0;
  let finish: (queued: number) => void = () => undefined;
  const requeue = (): Promise<number> => {
    runs += 1;
    return new Promise<number>((resolve) => (finish = resolve));
  };
  const [one, two] = runsOf(requeue);
  return { one, two, runs: () => runs, finish: (queued: number) => finish(queued) };
}
/** Until each call has looked in Redis for another run: commands are answered in order. */
async function untilAsked(): Promise<void> {
  for (let time = 0; time < 3; time += 1) await shared.redis.ping();
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
  const [one, two] = runsOf(async () => failed);
  expect(await one.run('ptn_6')).toEqual({ queued: 7, joined: false });
  failed = 9;
  expect(await two.run('ptn_6')).toEqual({ queued: 9, joined: false });
});

test('gives a call soon after a large run its count, and runs no second one', async () => {
  const requeue = jest.fn(async () => 10_000);
  const [one, two] = runsOf(requeue);
  expect(await one.run('ptn_7')).toEqual({ queued: 10_000, joined: false });
  expect(await two.run('ptn_7')).toEqual({ queued: 10_000, joined: true });
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
  const failing = createRequeueRuns(shared, () => Promise.reject(new Error('no store')));
  await expect(failing.run('ptn_4')).rejects.toThrow('no store');
  const working = createRequeueRuns(shared, async () => 3);
  expect(await working.run('ptn_4')).toEqual({ queued: 3, joined: false });
});

test('runs without Redis, one at a time', async () => {
  const runs = createRequeueRuns(down, async () => 2);
  const calls = await Promise.all([runs.run('ptn_5'), runs.run('ptn_5')]);
  expect(calls).toEqual([
    { queued: 2, joined: false },
    { queued: 2, joined: true },
  ]);
});
