// Creates missing topics and raises the message size limit of existing ones.
import { ConfigResourceTypes, type Admin } from 'kafkajs';
import { DEAD_LETTER_RETENTION_HOURS, deadLetterName, topics, type Topic } from './topics';

const HOUR_MS = 3_600_000;

export async function createTopics(
  admin: Admin,
  settings: { prefix: string; replication: number },
): Promise<void> {
  const wanted = (Object.values(topics) as Topic<unknown>[]).flatMap((topic) => [
    { ...topic, name: settings.prefix + topic.name },
    {
      ...topic,
      name: settings.prefix + deadLetterName(topic.name),
      partitions: 1,
      retention_hours: DEAD_LETTER_RETENTION_HOURS,
    },
  ]);
  const existing = new Set(await admin.listTopics());
  const missing = wanted.filter(({ name }) => !existing.has(name));
  if (missing.length > 0) {
    await admin.createTopics({
      waitForLeaders: true,
      topics: missing.map((topic) => ({
        topic: topic.name,
        numPartitions: topic.partitions,
        replicationFactor: settings.replication,
        configEntries: [
          { name: 'retention.ms', value: String(topic.retention_hours * HOUR_MS) },
          { name: 'max.message.bytes', value: String(topic.message_limit_bytes) },
          // All in-sync replicas acknowledge; with three or more, two must be in sync.
          {
            name: 'min.insync.replicas',
            value: String(settings.replication >= 3 ? 2 : 1),
          },
        ],
      })),
    });
  }
  const present = wanted.filter(({ name }) => existing.has(name));
  if (present.length > 0) await raiseLimits(admin, present);
}

/** Kafka's config source for a value set on the topic itself. */
const SET_FOR_TOPIC = 1;
const LIMIT = 'max.message.bytes';

/** The request replaces all settings of a topic, so it repeats the existing ones. */
async function raiseLimits(admin: Admin, wanted: Topic<unknown>[]): Promise<void> {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: wanted.map(({ name }) => ({ type: ConfigResourceTypes.TOPIC, name })),
  });
  const limits = new Map(wanted.map((topic) => [topic.name, topic.message_limit_bytes]));
  const alter = resources.flatMap(({ resourceName, configEntries }) => {
    const limit = limits.get(resourceName) ?? 0;
    const present = configEntries.find(({ configName }) => configName === LIMIT);
    if (Number(present?.configValue) >= limit) return [];
    const kept = configEntries
      .filter(
        ({ configName, configSource }) => configName !== LIMIT && configSource === SET_FOR_TOPIC,
      )
      .map(({ configName, configValue }) => ({ name: configName, value: configValue }));
    return [
      {
        type: ConfigResourceTypes.TOPIC,
        name: resourceName,
        configEntries: [...kept, { name: LIMIT, value: String(limit) }],
      },
    ];
  });
  if (alter.length > 0) await admin.alterConfigs({ validateOnly: false, resources: alter });
}
