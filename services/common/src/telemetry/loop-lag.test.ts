// The metrics of the event loop's lag keep the names of the library's, and show how long the loop stood still.
import { setTimeout as sleep } from 'node:timers/promises';
import { metricsRegister } from '.';

const valueOf = async (name: string): Promise<number> => {
  const lines = (await metricsRegister.metrics()).split('\n');
  const line = lines.find((one) => one.startsWith(`${name} `));
  return Number(line?.split(' ')[1] ?? NaN);
};

const STALL_MS = 700;

test('reports by how much the event loop was late since the last scrape', async () => {
  await valueOf('nodejs_eventloop_lag_max_seconds');
  await sleep(1);
  const until = performance.now() + STALL_MS;
  while (performance.now() < until);
  await sleep(1);
  // The samples are 250 ms apart.
  expect(await valueOf('nodejs_eventloop_lag_max_seconds')).toBeGreaterThan(
    (STALL_MS - 250 - 50) / 1_000,
  );
  expect(await valueOf('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0);
});
