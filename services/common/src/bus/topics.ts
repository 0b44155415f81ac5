// Every topic of the mesh, and how missing ones are created. Messages with the same key stay in
// order. A breaking change of a payload is a new topic with a higher version.
import { ConfigResourceTypes, type Admin } from 'kafkajs';
import {
  Alert,
  Contacts,
  Delivery,
  Event,
  Outage,
  Statuses,
  UpstreamWebhook,
  Usage,
} from '@bmg/proto/stream';
import type { Codec } from '../rpc';

export interface Topic<T> {
  name: string;
  codec: Codec<T>;
  partitions: number;
  retention_hours: number;
  /** The largest message; the broker's default is 1 MiB. */
  message_limit_bytes: number;
}

const MIB = 1024 * 1024;
const topic = <T>(
  name: string,
  codec: Codec<T>,
  changes: Partial<Omit<Topic<T>, 'name' | 'codec'>> = {},
): Topic<T> => ({
  name,
  codec,
  partitions: 12,
  retention_hours: 168,
  message_limit_bytes: 5 * MIB,
  ...changes,
});

/** Names are completed by the prefix (`bmg.` unless set otherwise). */
export const topics = {
  // The upstream's bodies, which may have 3 MB, divided by conversation. Key: the number and a lane
  // of its conversations; without a conversation the number, else the account.
  webhook: topic('upstream-webhook.v2', UpstreamWebhook),
  // The bodies as releases up to 2.10.0 published them, keyed by number. Only read, and before the
  // topic above, so that an upgrade keeps the order of conversations.
  webhookByNumber: topic('upstream-webhook.v1', UpstreamWebhook),
  // Changes that our services keep as state; each topic exists because a service reads it. Fan-out
  // merges what a batch of webhooks reports on a number or account, so a record stays below the
  // batch's size.
  // Statuses of messages. Key: as of the webhook.
  status: topic('status.v1', Statuses),
  // Phone numbers that exchanged messages or are in an address book. Key: the account.
  contact: topic('contact.v1', Contacts),
  // States of templates. Key: the account.
  template: topic('template.v1', Event, { message_limit_bytes: 10 * MIB }),
  // States of accounts and numbers, and the activity of numbers. Key: the account.
  account: topic('account.v1', Event, { message_limit_bytes: 10 * MIB }),
  // Alerts that fan-out delivers to one partner. Key: the partner.
  alert: topic('alert.v1', Alert, {
    partitions: 3,
    retention_hours: 72,
    message_limit_bytes: MIB,
  }),
  // Outages of the ingress, after which messaging looks for lost statuses. Key: none.
  outage: topic('outage.v1', Outage, { partitions: 1, message_limit_bytes: MIB }),
  // Key: the partner and the conversation.
  delivery: topic('delivery.v1', Delivery, {
    retention_hours: 72,
    message_limit_bytes: 10 * MIB,
  }),
  // Key: the partner.
  usage: topic('usage.v1', Usage, {
    partitions: 6,
    retention_hours: 72,
    message_limit_bytes: MIB,
  }),
} as const;

/** The topic for messages that could not be handled; the reason is in a header. */
export const deadLetterName = (name: string): string => `${name}.dlq`;
export const DEAD_LETTER_RETENTION_HOURS = 336;

/** Every topic that must exist, with its prefix. */
export const topicNames = (prefix: string): string[] =>
  Object.values(topics).flatMap(({ name }) => [prefix + name, prefix + deadLetterName(name)]);

const HOUR_MS = 3_600_000;

/** Creates missing topics and raises the message size limit of existing ones. */
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
