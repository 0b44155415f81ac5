// A real Kafka as one process, broker and controller in one. Its settings favour a quick start over
// scale.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { ask } from './ask';
import type { Engine, EnginePlace } from './engine';
import { LocalError, messageOf } from './errors';
import { requireJars } from './jars';
import { javaFlags } from './java';
import { freePort, HOST } from './ports';
import { findJava } from './tools';

const run = promisify(execFile);
const FORMAT_LIMIT_MS = 60_000;
const WANTED = { what: 'the local Kafka', instead: 'set KAFKA_BROKERS' };
/** Kafka wants sixteen bytes in base64; which ones does not matter to a cluster of one. */
const CLUSTER_ID = Buffer.from('bmg-local-kafka!').toString('base64url');

export const kafka: Engine = {
  name: 'kafka',
  setting: 'KAFKA_BROKERS',
  portSetting: 'KAFKA_PORT',
  defaultPort: 9092,
  url: (port) => `${HOST}:${port}`,
  marker: propertiesFile,

  async prepare(place) {
    const java = await findJava(place.env, WANTED);
    const lib = await requireJars(place.env, WANTED, place.log);
    const classPath = ['-cp', path.join(lib, '*')];
    const properties = propertiesFile(place.data);
    const logLevel = '-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info';
    return {
      title: 'Kafka',
      command: java,
      args: [...javaFlags('512m'), logLevel, ...classPath, 'kafka.Kafka', properties],
      readyLine: 'Kafka Server started',
      format: async () => {
        await writeProperties(place);
        if (existsSync(path.join(place.data, 'log', 'meta.properties'))) return;
        const tool = ['kafka.tools.StorageTool', 'format', '-t', CLUSTER_ID, '-c', properties];
        try {
          // Only the first compiler: this runs for less than a second.
          await run(
            java,
            ['-XX:TieredStopAtLevel=1', ...javaFlags('128m'), ...classPath, ...tool],
            {
              timeout: FORMAT_LIMIT_MS,
            },
          );
        } catch (error) {
          throw new LocalError(`Kafka's storage could not be formatted: ${messageOf(error)}`);
        }
      },
    };
  },

  // ApiVersions, version 0. The port opens a little before the broker serves, which is why the log
  // is read as well.
  answers: (port) =>
    ask(port, Buffer.from([0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 7, 255, 255]), (bytes) =>
      bytes.length < 8 ? undefined : bytes.readInt32BE(4) === 7,
    ),
};

function propertiesFile(data: string): string {
  return path.join(data, 'server.properties');
}

/** Written for each start: the data stays when the ports change. */
async function writeProperties({ data, port }: EnginePlace): Promise<void> {
  // Nobody but this process speaks to the controller, so its port may be any.
  const controller = await freePort();
  mkdirSync(data, { recursive: true });
  const lines = [
    'process.roles=broker,controller',
    'node.id=1',
    `controller.quorum.voters=1@${HOST}:${controller}`,
    `listeners=BROKER://${HOST}:${port},CONTROLLER://${HOST}:${controller}`,
    `advertised.listeners=BROKER://${HOST}:${port}`,
    'controller.listener.names=CONTROLLER',
    'inter.broker.listener.name=BROKER',
    'listener.security.protocol.map=BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT',
    `log.dirs=${path.join(data, 'log').replaceAll('\\', '/')}`,
    // A topic that nobody created is a mistake to be seen, as in production.
    'auto.create.topics.enable=false',
    // There is one broker for Kafka's own topics, and few groups for them to hold.
    ...['offsets.topic', 'transaction.state.log', 'share.coordinator.state.topic'].flatMap(
      (topic) => [`${topic}.replication.factor=1`, `${topic}.num.partitions=4`],
    ),
    'transaction.state.log.min.isr=1',
    'share.coordinator.state.topic.min.isr=1',
    // A group's first member need not wait for others.
    'group.initial.rebalance.delay.ms=0',
    // A killed broker is refused as its own double until the session of its last run has ended:
    // with the nine seconds that are Kafka's default, it takes twelve to come back.
    'broker.session.timeout.ms=2500',
    'broker.heartbeat.interval.ms=500',
    'num.network.threads=2',
    'num.io.threads=4',
    'num.recovery.threads.per.data.dir=2',
    // Otherwise 128 MiB of the heap are set aside for the compaction of two small topics.
    'log.cleaner.dedupe.buffer.size=8388608',
  ];
  writeFileSync(propertiesFile(data), `${lines.join('\n')}\n`);
}
