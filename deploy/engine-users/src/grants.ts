// The rights of each process at each engine, and the commands that give them.
import { deadLetterName, topics } from '@bmg/common/bus';
import {
  accessOf,
  OPERATOR,
  PROCESSES,
  userOf,
  type KafkaUser,
  type ProcessName,
  type TopicKey,
} from './access';

/** One grant in the form that `kafka-acls` takes. */
export interface KafkaGrant {
  operations: Array<'Describe' | 'DescribeConfigs' | 'Create' | 'AlterConfigs' | 'Read' | 'Write'>;
  resource: 'topic' | 'group';
  names: string[];
  /** The names are prefixes. */
  prefixed?: true;
}

/** The client asks at each connection whether Redis has loaded its data. */
const EVERYWHERE = ['info'];

export function kafkaGrants(name: KafkaUser, prefix = 'bmg.'): KafkaGrant[] {
  if (name === OPERATOR) return operatorGrants(prefix);
  const { reads = [], writes = [], watches = [], creates_topics } = accessOf(name);
  if (reads.length === 0 && writes.length === 0) return [];
  const nameOf = (topic: TopicKey): string => prefix + topics[topic].name;
  const dead = reads.map(([topic]) => prefix + deadLetterName(topics[topic].name));
  const written = [...writes.map(nameOf), ...dead];
  const groups = reads.map(([, group]) => prefix + group);
  // Each process checks at its start that all topics exist, and how large their messages may be.
  const seen: KafkaGrant = {
    operations: ['Describe', 'DescribeConfigs'],
    resource: 'topic',
    names: [prefix],
    prefixed: true,
  };
  if (creates_topics) seen.operations.push('Create', 'AlterConfigs');
  const grants: KafkaGrant[] = [
    seen,
    { operations: ['Read'], resource: 'topic', names: reads.map(([topic]) => nameOf(topic)) },
    { operations: ['Read'], resource: 'group', names: groups },
    { operations: ['Write'], resource: 'topic', names: written },
    {
      operations: ['Describe'],
      resource: 'group',
      names: watches.map((group) => prefix + group),
    },
  ];
  return grants.filter(({ names }) => names.length > 0);
}

/**
 * For `bmg status`, `lag` and `dead-letters`: how far each group is, and the letters of every
 * reader, read in a group of their own and published to their topics again.
 */
function operatorGrants(prefix: string): KafkaGrant[] {
  const read = PROCESSES.flatMap((name) => accessOf(name).reads ?? []);
  const names = [...new Set(read.map(([topic]) => topics[topic].name))];
  return [
    { operations: ['Describe'], resource: 'topic', names: [prefix], prefixed: true },
    { operations: ['Describe'], resource: 'group', names: [prefix], prefixed: true },
    { operations: ['Read'], resource: 'group', names: [`${prefix}operator-`], prefixed: true },
    {
      operations: ['Read'],
      resource: 'topic',
      names: names.map((name) => prefix + deadLetterName(name)),
    },
    { operations: ['Write'], resource: 'topic', names: names.map((name) => prefix + name) },
  ];
}

export const kafkaCommand = (name: KafkaUser, grant: KafkaGrant): string =>
  [
    `kafka-acls --bootstrap-server "$BROKERS" --command-config admin.properties --add --allow-principal User:${userOf(name)}`,
    ...grant.operations.map((operation) => `--operation ${operation}`),
    ...grant.names.map((one) => `--${grant.resource} ${one}`),
    ...(grant.prefixed ? ['--resource-pattern-type prefixed'] : []),
  ].join(' ');

/** A line for Redis's ACL file, or the words after ACL SETUSER. */
export function redisUser(name: ProcessName, password: string, key_prefix = ''): string {
  const { keys, commands, channels = [] } = accessOf(name).redis;
  return [
    `${userOf(name)} reset on >${password}`,
    ...keys.map((key) => `~${key_prefix}${key}`),
    'resetchannels',
    ...channels.map((channel) => `&${channel}`),
    '-@all',
    ...[...EVERYWHERE, ...commands].map((command) => `+${command}`),
  ].join(' ');
}

export const mongoCommand = (name: ProcessName): string | undefined => {
  const { database } = accessOf(name);
  if (database === undefined) return undefined;
  return `db.getSiblingDB('admin').createUser({ user: '${userOf(name)}', pwd: passwordPrompt(), roles: [{ role: 'readWrite', db: '${database}' }] })`;
};
