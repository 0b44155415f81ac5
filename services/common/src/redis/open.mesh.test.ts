// The limit of a command, on a real Redis.
import { setImmediate as turn } from 'node:timers/promises';
import { useRedis } from '../../test/redis';
import { eventually } from '../../../../test/testkit/eventually';

const { shared: connection } = useRedis();
beforeAll(() => eventually(() => connection.up()));

function keepBusy(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test('an answer that came while the process was busy is read', async () => {
  const answers = Array.from({ length: 100 }, () => connection.redis.ping());
  // They are written in this turn of the event loop, and read in the next.
  await turn();
  keepBusy(600);
  expect(await Promise.all(answers)).toEqual(answers.map(() => 'PONG'));
});

test('a command that is not answered is given up', async () => {
  const started = performance.now();
  await expect(connection.redis.blpop('nothing', 20)).rejects.toThrow('Command timed out');
  expect(performance.now() - started).toBeLessThan(10_000);
});
