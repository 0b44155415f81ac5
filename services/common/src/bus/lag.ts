// Publishes the consumer lag of this process's groups: the end of each partition minus the
// committed offset, as Kafka reports them. Any live replica reports the whole group, so a hung or
// dead member is visible. While Kafka does not answer, the metric is absent rather than stale.
import type { Admin, Kafka } from 'kafkajs';
import { metrics, type Logger } from '../telemetry';
import type { Backlog } from './bus';

export interface WatchedGroup {
  /** The topic's name without the prefix (`topic`) and with it (`name`). */
  topic: string;
  name: string;
  group: string;
  group_id: string;
}

export interface LagWatch {
  add(watched: WatchedGroup): void;
  start(): void;
  /** Does not wait for a request in flight. */
  stop(): void;
}

/** Prometheus scrapes as often. A look takes six requests for each group. */
const LOOK_EVERY_MS = 15_000;

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
        for (const { partition, behind } of await lagOf(asked, one)) {
          metrics.bus_lag.set(
            { destination: one.topic, group: one.group, partition: String(partition) },
            behind,
          );
        }
      }
    } catch (error) {
      if (stopped) return void asked.disconnect().catch(() => undefined);
      log.debug({ err: error }, 'failed to read consumer lag');
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

/** Messages of a partition: those that the group has not committed, and the offset of the next. */
export interface Lag {
  partition: number;
  behind: number;
  end: number;
}

/** Returns how many messages of each partition the group has not committed. */
export async function lagOf(
  admin: Pick<Admin, 'fetchOffsets' | 'fetchTopicOffsets'>,
  { name, group_id }: Pick<WatchedGroup, 'name' | 'group_id'>,
): Promise<Lag[]> {
  // Ends are read last, so that a commit in between cannot make the lag negative.
  const [committed] = await admin.fetchOffsets({ groupId: group_id, topics: [name] });
  const ends = await admin.fetchTopicOffsets(name);
  return behind(committed?.partitions ?? [], ends);
}

/** Kafka reports -1 for a group without a commit: it starts at the oldest retained message. */
export function behind(
  committed: ReadonlyArray<{ partition: number; offset: string }>,
  ends: ReadonlyArray<{ partition: number; low: string; high: string }>,
): Lag[] {
  const done = new Map(committed.map(({ partition, offset }) => [partition, Number(offset)]));
  return ends.map(({ partition, low, high }) => ({
    partition,
    behind: Math.max(0, Number(high) - Math.max(Number(low), done.get(partition) ?? -1)),
    end: Number(high),
  }));
}

/** Sums over all partitions. */
export const backlogOf = (lags: readonly Lag[]): Backlog =>
  lags.reduce(
    ({ waiting, published }, { behind, end }) => ({
      waiting: waiting + behind,
      published: published + end,
    }),
    { waiting: 0, published: 0 },
  );
