// How far the groups of this process are behind, asked of Kafka now and then: what was committed against the
// end of each partition. A consumer that hangs, or a member that is gone, cannot hide it, as long as one
// replica of the service lives; and while Kafka does not answer, nothing is said rather than something old.
import type { Admin, Kafka } from 'kafkajs';
import { metrics, type Logger } from '../telemetry';

export interface WatchedGroup {
  /** The topic's name without the prefix, and with it. */
  topic: string;
  name: string;
  group: string;
  group_id: string;
}

export interface LagWatch {
  add(watched: WatchedGroup): void;
  start(): void;
  /** Does not wait: nobody needs the answer any more. */
  stop(): void;
}

const LOOK_EVERY_MS = 10_000;

export function createLagWatch(kafka: Kafka, log: Logger): LagWatch {
  const groups: WatchedGroup[] = [];
  let admin: Admin | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const close = (): void => {
    admin?.disconnect().catch(() => undefined);
    admin = undefined;
  };
  const look = async (): Promise<void> => {
    const asked = (admin ??= kafka.admin({ retry: { retries: 0 } }));
    try {
      await asked.connect();
      for (const one of groups) {
        for (const [partition, messages] of await lagOf(asked, one)) {
          metrics.bus_lag.set(
            { destination: one.topic, group: one.group, partition: String(partition) },
            messages,
          );
        }
      }
    } catch (error) {
      if (stopped) return void asked.disconnect().catch(() => undefined);
      log.debug({ err: error }, 'the lag is not known');
      metrics.bus_lag.reset();
      close();
    }
  };
  const turn = (): void => {
    void look().finally(() => {
      if (stopped) return close();
      timer = setTimeout(turn, LOOK_EVERY_MS);
      timer.unref();
    });
  };
  return {
    add: (watched) => groups.push(watched),
    start() {
      if (groups.length > 0 && !stopped) turn();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
      close();
    },
  };
}

async function lagOf(
  admin: Pick<Admin, 'fetchOffsets' | 'fetchTopicOffsets'>,
  { name, group_id }: WatchedGroup,
): Promise<Array<[partition: number, messages: number]>> {
  // The ends last: what is committed in between must not make the lag negative.
  const [committed] = await admin.fetchOffsets({ groupId: group_id, topics: [name] });
  const ends = await admin.fetchTopicOffsets(name);
  return behind(committed?.partitions ?? [], ends);
}

/** -1 is what Kafka says where a group has committed nothing: then it begins with what is kept. */
export function behind(
  committed: ReadonlyArray<{ partition: number; offset: string }>,
  ends: ReadonlyArray<{ partition: number; low: string; high: string }>,
): Array<[partition: number, messages: number]> {
  const done = new Map(committed.map(({ partition, offset }) => [partition, Number(offset)]));
  return ends.map(({ partition, low, high }) => [
    partition,
    Math.max(0, Number(high) - Math.max(Number(low), done.get(partition) ?? -1)),
  ]);
}
