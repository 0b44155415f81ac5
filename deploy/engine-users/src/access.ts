// The rights of each process at the engines. The commands that create their users
// (deploy/ENGINE-USERS.md) and the test that runs a mesh with these users are made from this table;
// test/contract/engine-users.test.ts compares it with the code.
import type { topics } from '@bmg/common/bus';

export type TopicKey = keyof typeof topics;

export interface EngineAccess {
  /**
   * Topic and consumer group. Messages that cannot be handled go to the dead letters of the topic.
   */
  reads?: ReadonlyArray<readonly [topic: TopicKey, group: string]>;
  writes?: readonly TopicKey[];
  /** Groups whose members it lists. */
  watches?: readonly string[];
  /** Creates missing topics: as the chart's job before an upgrade, and at its own start. */
  creates_topics?: true;
  /** Its MongoDB database. */
  database?: string;
  redis: {
    keys: readonly string[];
    commands: readonly string[];
    channels?: readonly string[];
  };
}

/** Versions of the directory, which onboarding changes. */
const VERSIONS = 'bmg:{*}:version';
const SCRIPTS = ['eval', 'evalsha'];

export const ENGINE_ACCESS = {
  gateway: {
    writes: ['usage'],
    watches: ['fanout-webhook'],
    redis: {
      keys: [
        VERSIONS,
        'bmg:{*}:bucket',
        'bmg:{*}:attempts',
        'bmg:{*}:idempotency:*',
        'bmg:{*}:idempotency-counts',
      ],
      commands: [
        ...SCRIPTS,
        ...['get', 'set', 'incr', 'del', 'pexpire', 'time', 'multi', 'exec'],
        ...['hmget', 'hset', 'hdel', 'hgetall', 'hincrby'],
        'ping',
      ],
    },
  },
  onboarding: {
    reads: [
      ['usage', 'onboarding-usage'],
      ['account', 'onboarding-account'],
      ['status', 'onboarding-status'],
    ],
    writes: ['alert'],
    database: 'onboarding',
    redis: { keys: [VERSIONS], commands: ['get', 'set', 'ping'] },
  },
  messaging: {
    reads: [
      ['status', 'messaging-status'],
      ['contact', 'messaging-contact'],
      ['outage', 'messaging-outage'],
    ],
    writes: ['webhook'],
    database: 'messaging',
    redis: {
      keys: [VERSIONS, 'bmg:history:*', 'bmg:statuses:*'],
      commands: [
        ...SCRIPTS,
        ...['get', 'set', 'incr', 'ttl', 'expire', 'hincrby', 'hmget', 'zincrby', 'zrevrange'],
      ],
    },
  },
  templates: {
    reads: [['template', 'templates-template']],
    database: 'templates',
    redis: { keys: [VERSIONS], commands: ['get'] },
  },
  broadcasts: {
    reads: [
      ['status', 'broadcasts-status'],
      ['template', 'broadcasts-template'],
    ],
    database: 'broadcasts',
    redis: {
      keys: [VERSIONS, 'bmg:{n:*}:pace'],
      commands: [...SCRIPTS, 'get', 'time', 'hmget', 'hset', 'pexpire'],
    },
  },
  'number-admin': {
    database: 'number-admin',
    redis: { keys: [VERSIONS], commands: ['get'] },
  },
  webhooks: {
    reads: [['delivery', 'webhooks']],
    writes: ['webhook', 'outage'],
    creates_topics: true,
    database: 'webhooks',
    redis: {
      keys: [VERSIONS, 'bmg:seen:*', 'bmg:canary:*', 'bmg:webhooks:retry-all:*'],
      commands: ['get', 'set', 'mget', 'del', 'publish', 'subscribe'],
      channels: ['bmg:webhooks:requeue'],
    },
  },
  fanout: {
    reads: [
      ['webhook', 'fanout-webhook'],
      ['webhookByNumber', 'fanout'],
      ['alert', 'fanout-alert'],
    ],
    writes: ['status', 'contact', 'template', 'account', 'delivery'],
    redis: {
      keys: [VERSIONS, 'status_*', 'contact_*', 'handler_*', 'handover_*', 'cost_*'],
      commands: [...SCRIPTS, 'get', 'mget', 'set', 'del', 'exists'],
    },
  },
} as const satisfies Record<string, EngineAccess>;

export type ProcessName = keyof typeof ENGINE_ACCESS;
export const PROCESSES = Object.keys(ENGINE_ACCESS) as ProcessName[];
export const accessOf = (name: ProcessName): EngineAccess => ENGINE_ACCESS[name];
/** The operator's command line, in its pod. It uses Kafka only. */
export const OPERATOR = 'operator' as const;
export const KAFKA_USERS = [...PROCESSES, OPERATOR];
export type KafkaUser = (typeof KAFKA_USERS)[number];
export const userOf = (name: KafkaUser): string => `bmg-${name}`;
