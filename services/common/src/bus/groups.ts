// What Kafka knows of consumer groups: whether they have members, and how far they are behind.
import type { Admin, Kafka } from 'kafkajs';
import { metrics, type Logger } from '../telemetry';
import type { Backlog } from './bus';

interface WatchedGroup {
  /** The topic's name without the prefix (`topic`) and with it (`name`). */
  topic: string;
  name: string;
  group: string;
  group_id: string;
}

/** Prometheus scrapes as often. A look takes six requests for each group. */
const LOOK_EVERY_MS = 15_000;

/**
 * Publishes the lag of the watched groups: the end of each partition minus the committed offset.
 * Any live replica reports the whole group, so a hung or dead member is visible. While Kafka does
 * not answer, the metric is absent rather than stale.
 */
export function createGroups(kafka: Kafka, log: Logger) {
  const watched: WatchedGroup[] = [];
  const lags = createQuestions(kafka);
  const others = createQuestions(kafka);
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const publish = async (admin: Admin): Promise<void> => {
    for (const one of watched) {
      for (const { partition, behind } of await lagOf(admin, one)) {
        const labels = { destination: one.topic, group: one.group, partition: String(partition) };
        metrics.bus_lag.set(labels, behind);
      }
    }
  };
  const look = async (): Promise<void> => {
    await lags.ask(publish).catch((error: unknown) => {
      if (stopped) return;
      log.debug({ err: error }, 'failed to read consumer lag');
      metrics.bus_lag.reset();
    });
    if (!stopped) timer = setTimeout(() => void look(), LOOK_EVERY_MS).unref();
  };
  return {
    watch: (group: WatchedGroup) => watched.push(group),
    start(): void {
      if (watched.length > 0 && !stopped) void look();
    },
    /** Does not wait for a request in flight. */
    stop(): void {
      stopped = true;
      clearTimeout(timer);
      lags.close();
      others.close();
    },
    /** Rejects if the group has no members. A dead one counts until its session expires. */
    async attended(group_id: string): Promise<void> {
      const { groups } = await others.ask((admin) => admin.describeGroups([group_id]));
      if (!groups.some(({ members }) => members.length > 0)) {
        throw new Error(`consumer group ${group_id} has no members`);
      }
    },
    /** Returns the messages of the topic that the group has not committed. */
    behind: async (name: string, group_id: string): Promise<Backlog> =>
      backlogOf(await others.ask((admin) => lagOf(admin, { name, group_id }))),
  };
}

/** Queries Kafka over one connection, which is replaced after a failure. */
function createQuestions(kafka: Kafka) {
  let admin: Admin | undefined;
  const close = (closed = admin): void => {
    if (admin === closed) admin = undefined;
    closed?.disconnect().catch(() => undefined);
  };
  return {
    async ask<T>(question: (admin: Admin) => Promise<T>): Promise<T> {
      const asked = (admin ??= kafka.admin({ retry: { retries: 0 } }));
      try {
        await asked.connect();
        return await question(asked);
      } catch (error) {
        close(asked);
        throw error;
      }
    },
    close: () => close(),
  };
}

/** Messages of a partition: those that the group has not committed, and the offset of the next. */
interface Lag {
  partition: number;
  behind: number;
  end: number;
}

async function lagOf(
  admin: Admin,
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
export const backlogOf = (lags: readonly Lag[]): Backlog => ({
  waiting: lags.reduce((sum, { behind }) => sum + behind, 0),
  published: lags.reduce((sum, { end }) => sum + end, 0),
});
