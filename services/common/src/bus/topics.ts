// Every topic of the mesh. Messages with the same key stay in order. A breaking change of a payload
// is a new topic with a higher version.
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
const topic = <T>(topic: Topic<T>): Topic<T> => topic;

/** Names are completed by the prefix (`bmg.` unless set otherwise). */
export const topics = {
  // The upstream's bodies, which may have 3 MB, divided by conversation. Key: the number and a lane of
  // its conversations; without a conversation the number, else the account.
  webhook: topic({
    name: 'upstream-webhook.v2',
    codec: UpstreamWebhook,
    partitions: 12,
    retention_hours: 168,
    message_limit_bytes: 5 * MIB,
  }),
  // The same as releases up to 2.10.0 published it, keyed by number. Only read, and before the topic
  // above, so that an upgrade keeps the order of conversations.
  webhookByNumber: topic({
    name: 'upstream-webhook.v1',
    codec: UpstreamWebhook,
    partitions: 12,
    retention_hours: 168,
    message_limit_bytes: 5 * MIB,
  }),
  // Changes that our services keep as state; each topic exists because a service reads it. Fan-out
  // merges what a batch of webhooks reports on a number or account, so a record stays below the
  // batch's size.
  // Statuses of messages. Key: as of the webhook.
  status: topic({
    name: 'status.v1',
    codec: Statuses,
    partitions: 12,
    retention_hours: 168,
    message_limit_bytes: 5 * MIB,
  }),
  // Phone numbers that exchanged messages or are in an address book. Key: the account.
  contact: topic({
    name: 'contact.v1',
    codec: Contacts,
    partitions: 12,
    retention_hours: 168,
    message_limit_bytes: 5 * MIB,
  }),
  // States of templates. Key: the account.
  template: topic({
    name: 'template.v1',
    codec: Event,
    partitions: 12,
    retention_hours: 168,
    message_limit_bytes: 10 * MIB,
  }),
  // States of accounts and numbers, and the activity of numbers. Key: the account.
  account: topic({
    name: 'account.v1',
    codec: Event,
    partitions: 12,
    retention_hours: 168,
    message_limit_bytes: 10 * MIB,
  }),
  // Alerts that fan-out delivers to one partner. Key: the partner.
  alert: topic({
    name: 'alert.v1',
    codec: Alert,
    partitions: 3,
    retention_hours: 72,
    message_limit_bytes: MIB,
  }),
  // Outages of the ingress, after which messaging looks for lost statuses. Key: none.
  outage: topic({
    name: 'outage.v1',
    codec: Outage,
    partitions: 1,
    retention_hours: 168,
    message_limit_bytes: MIB,
  }),
  // Key: the partner and the conversation.
  delivery: topic({
    name: 'delivery.v1',
    codec: Delivery,
    partitions: 12,
    retention_hours: 72,
    message_limit_bytes: 10 * MIB,
  }),
  // Key: the partner.
  usage: topic({
    name: 'usage.v1',
    codec: Usage,
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
