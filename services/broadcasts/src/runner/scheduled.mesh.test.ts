import { useRig } from '../../test/rig';
import { createMessagingDouble } from '../../test/worker';

const rig = useRig();

const BROADCASTS = 100;
/** Time for several rounds of the worker. */
const ROUNDS_MS = 3_500;
/** Each round has one query for due broadcasts and one for active ones; a sweep has some more. */
const COMMANDS_MAX = 20;

test('a hundred scheduled broadcasts of 10,000 cost no database work until they are due', async () => {
  const scheduled_at = new Date(Date.now() + 3_600_000);
  for (let at = 0; at < BROADCASTS; at += 1) await rig.broadcast(10_000, { scheduled_at });
  const before = rig.stores.asked();
  await rig.worker({ messaging: createMessagingDouble() });
  await new Promise((resolve) => setTimeout(resolve, ROUNDS_MS));
  const now = rig.stores.asked();
  expect(now.documents).toBe(before.documents);
  // Several rounds, and no command for each broadcast.
  expect(now.commands - before.commands).toBeGreaterThan(2);
  expect(now.commands - before.commands).toBeLessThan(COMMANDS_MAX);
});
