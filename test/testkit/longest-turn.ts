import { setImmediate } from 'node:timers/promises';

/**
 * The longest turn of the event loop while `run` runs, in CPU time, which other processes do not
 * change.
 */
export async function longestTurn(run: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let running = true;
  const watch = (async () => {
    while (running) {
      const from = process.cpuUsage();
      await setImmediate();
      const { user, system } = process.cpuUsage(from);
      longest = Math.max(longest, (user + system) / 1_000);
    }
  })();
  await run();
  running = false;
  await watch;
  return longest;
}
