// Endpoints at RabbitMQ, SQS and S3: the scenarios of test/e2e/destinations.e2e.test.ts, and kills.
import { startAmqpServer } from './amqp-server';
import { startS3Server, startSqsServer } from './aws-servers';
import { describeKills } from './kills';
import { INSTALL_LIMIT_MS, motoMissing } from './moto';
import { rabbitMqMissing, START_LIMIT_MS } from './rabbitmq';
import { describeDestination } from './scenarios';
import type { DestinationServer } from './server';

const SERVERS: [
  name: string,
  missing: () => string | undefined,
  start: () => Promise<DestinationServer>,
][] = [
  ['RabbitMQ', rabbitMqMissing, startAmqpServer],
  ['SQS', motoMissing, startSqsServer],
  ['S3', motoMissing, startS3Server],
];

for (const [name, findMissing, start] of SERVERS) {
  const missing = findMissing();
  if (missing !== undefined) {
    process.stderr.write(`${name}: skipped, because ${missing}\n`);
    test.skip(`${name}: ${missing}`, () => undefined);
    continue;
  }
  describeDestination(name, start, INSTALL_LIMIT_MS + START_LIMIT_MS);
  describeKills(name, start, INSTALL_LIMIT_MS + START_LIMIT_MS);
}
