// The end of a run: what the consumers have committed, and what is posted again after a restart.
import { setTimeout as sleep } from 'node:timers/promises';
import { uncommitted } from '../testkit/committed-offsets';
import type { Finish } from './collect';
import type { Stage } from './stage';

const COMMIT_LIMIT_MS = 60_000;
/** A consumer that read events again would post them within this time. */
const QUIET_MS = 15_000;

/** Restarts what posts events; what a receiver had accepted before must not come again. */
export const restartQuietly =
  (stage: Stage): Finish =>
  async () => {
    const { mesh, arrivals } = stage;
    const place = {
      brokers: mesh.settings['KAFKA_BROKERS'] as string,
      prefix: String(mesh.env['KAFKA_TOPIC_PREFIX']),
    };
    const behind = await uncommitted(place, COMMIT_LIMIT_MS);
    const keyOf = (one: { partner: string; event_id: string }): string =>
      `${one.event_id} to ${one.partner}`;
    const accepted = new Set(arrivals.filter(({ answered }) => answered === 200).map(keyOf));
    const before = arrivals.length;
    for (const name of ['fanout', 'webhooks'] as const) {
      await mesh.terminate(name);
      await mesh.start(name);
    }
    await sleep(QUIET_MS);
    const again = arrivals.slice(before).map(keyOf);
    return { uncommitted: behind, posted_again: again.filter((key) => accepted.has(key)) };
  };
