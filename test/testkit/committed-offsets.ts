// Finds out if the consumer groups of a mesh have committed all that was published: what they have
// not committed is read again after their next restart.
import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka, logLevel, type Admin } from 'kafkajs';
import { behind } from '@bmg/common/bus';

const LOOK_EVERY_MS = 500;

export interface Place {
  brokers: string;
  /** The prefix of the mesh's topics and groups. */
  prefix: string;
}

/**
 * Waits until every group has committed what was published before the call. Returns the partitions
 * that are behind at the end of the limit, as `group topic/partition: 3`.
 */
export async function uncommitted({ brokers, prefix }: Place, limit_ms: number): Promise<string[]> {
  const kafka = new Kafka({ brokers: brokers.split(','), logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  try {
    const ends = await endsOf(admin, prefix);
    for (const until = performance.now() + limit_ms; ; await sleep(LOOK_EVERY_MS)) {
      const found = await lagging(admin, prefix, ends);
      if (found.length === 0 || performance.now() > until) return found;
    }
  } finally {
    await admin.disconnect();
  }
}

type Ends = Map<string, Awaited<ReturnType<Admin['fetchTopicOffsets']>>>;

async function endsOf(admin: Admin, prefix: string): Promise<Ends> {
  const topics = (await admin.listTopics()).filter((name) => name.startsWith(prefix));
  return new Map(
    await Promise.all(
      topics.map(async (name) => [name, await admin.fetchTopicOffsets(name)] as const),
    ),
  );
}

async function lagging(admin: Admin, prefix: string, ends: Ends): Promise<string[]> {
  const groups = (await admin.listGroups()).groups
    .map(({ groupId }) => groupId)
    .filter((group) => group.startsWith(prefix));
  const found: string[] = [];
  for (const groupId of groups) {
    for (const { topic, partitions } of await admin.fetchOffsets({ groupId })) {
      for (const lag of behind(partitions, ends.get(topic) ?? [])) {
        if (lag.behind > 0) found.push(`${groupId} ${topic}/${lag.partition}: ${lag.behind}`);
      }
    }
  }
  return found;
}
