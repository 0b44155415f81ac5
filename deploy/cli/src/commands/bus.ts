// `bmg lag`, `bmg dead-letters …` and `bmg status`: what Kafka holds, and whether the mesh works.
// They connect to Kafka with the settings of a service that uses it.
import type { Command } from 'commander';
import {
  createBusOperator,
  type BusOperator,
  type DeadLetter,
  type LetterPlace,
} from '@bmg/common/bus';
import { fields, loadConfig } from '@bmg/common/config';
import { WebhooksDefinition, type GetBacklogResponse } from '@bmg/proto/webhooks';
import { action, adder, count, wholeNumber, type Answer, EXIT_FAILURE } from '../action';
import { change } from '../recorded';
import { settingOf, UsageError, SERVICES, type Session } from '../session';
import { readHealth } from './platform';

const LETTERS_DEFAULT = 100;

const NOTES = `
The settings KAFKA_… come from the environment, else from .run/env in this folder. The chart's
operator pod has them; where Kafka has users, if operator.settings.KAFKA_SASL_USERNAME names one.`;

export function addBusCommands(program: Command): void {
  program
    .command('status')
    .description('whether the gateway and all behind it work, and which events wait where')
    .addHelpText('after', NOTES)
    .action(action(status));

  program
    .command('lag')
    .description('how many messages each consumer group has still to handle')
    .addHelpText('after', NOTES)
    .action(action(lag));

  const add = adder(
    program
      .command('dead-letters')
      .description('messages that could not be handled: they are kept for 14 days'),
  );
  add('list', 'list the latest letters, without their contents')
    .option('--limit <n>', 'letters of each partition', wholeNumber, LETTERS_DEFAULT)
    .addHelpText('after', NOTES)
    .action(action(list));
  add(
    'show <topic> <partition> <offset>',
    'print the contents of one letter, which may be texts of customers',
  ).action(change(show));
  add(
    'replay <topic> <partition> <offset>',
    'publish one letter to its topic again, once its fault is mended',
  ).action(change(replay));
}

function openBus(): BusOperator {
  const names = Object.keys(fields.kafka).flatMap((name) => [name, `${name}_FILE`]);
  const given = names
    .map((name) => [name, settingOf(name, '')])
    .filter(([, value]) => value !== '');
  return createBusOperator(loadConfig(fields.kafka, Object.fromEntries(given)).config);
}

async function lag(): Promise<Answer> {
  const lags = await openBus().lags();
  const lines = lags.map(({ group, topic, messages }) => `${messages}\t${group}\t${topic}`);
  return { json: { lags }, text: ['messages\tgroup\ttopic', ...lines].join('\n') };
}

async function list(_session: Session, { limit }: { limit: number }): Promise<Answer> {
  const dead_letters = await openBus().deadLetters(Math.max(1, limit));
  const text = dead_letters.map(line).join('\n');
  return { json: { dead_letters }, text: text === '' ? 'There are no dead letters.' : text };
}

const line = ({ failed_at, topic, partition, offset, bytes, reason }: DeadLetter): string =>
  `${failed_at}  ${topic} ${partition} ${offset}  ${count(bytes, 'byte')}  ${reason}`;

async function show(_session: Session, ...given: [string, string, string]): Promise<Answer> {
  const place = placeOf(given);
  const contents = await openBus().deadLetter(place);
  if (contents === undefined) throw new Error('no dead letter is there: dead-letters list has all');
  return {
    json: { ...place, base64: contents.toString('base64') },
    text: contents.toString('utf8'),
  };
}

async function replay(_session: Session, ...given: [string, string, string]): Promise<Answer> {
  const place = placeOf(given);
  if (!(await openBus().replay(place))) throw noLetter();
  return { json: { ...place, replayed: true }, text: `Published to ${place.topic} again.` };
}

function placeOf([topic, partition, offset]: [string, string, string]): LetterPlace {
  if (!/^\d+$/.test(partition) || !/^\d+$/.test(offset)) {
    throw new UsageError(
      'partition and offset must be whole numbers, as dead-letters list shows them',
    );
  }
  return { topic, partition: Number(partition), offset };
}

const noLetter = (): Error =>
  new Error('no whole message is there: parts of a webhook cannot be published again');

const oldestOf = ({
  event_id,
  partner_id,
  created_at,
}: NonNullable<GetBacklogResponse['oldest']>): string =>
  `${event_id} of ${partner_id}, since ${created_at?.toISOString()}`;

async function status(session: Session): Promise<Answer> {
  const bus = openBus();
  const [health, lags, letters, backlog] = await Promise.all([
    readHealth(),
    bus.lags(),
    bus.deadLetters(LETTERS_DEFAULT),
    session.client(WebhooksDefinition, SERVICES.webhooks).getBacklog({}),
  ]);
  const waiting = lags.filter(({ messages }) => messages > 0);
  if (health.status !== 'ok') process.exitCode = EXIT_FAILURE;
  const states = Object.entries(health.dependencies).map(([name, state]) => `${name} ${state}`);
  const behind = waiting.map(({ group, messages }) => `${group} ${messages}`);
  return {
    json: { ...health, lags: waiting, dead_letters: letters.length, deliveries: backlog },
    text: [
      `gateway: ${health.status}${states.length > 0 ? ` (${states.join(', ')})` : ''}`,
      `waiting: ${behind.length > 0 ? behind.join(', ') : 'nothing'}`,
      `deliveries: ${backlog.retrying} retried, ${backlog.failed} given up`,
      ...(backlog.oldest ? [`oldest undelivered event: ${oldestOf(backlog.oldest)}`] : []),
      `dead letters: ${letters.length} of the latest`,
    ].join('\n'),
  };
}
