// A real Kafka: broker and controller in one process, configured for a quick start rather than for
// load.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { ask, type Engine, type EnginePlace } from './engine';
import { LocalError, messageOf } from './errors';
import { requireJars } from './jars';
import { findJava, javaFlags } from './tools';
import { freePort, HOST } from './ports';

const run = promisify(execFile);
const FORMAT_LIMIT_MS = 60_000;
const WANTED = { what: 'the local Kafka', instead: 'set KAFKA_BROKERS' };
/** Kafka requires sixteen bytes in base64; their value does not matter for a single broker. */
const CLUSTER_ID = Buffer.from('bmg-local-kafka!').toString('base64url');

/** FindCoordinator, version 1: size, key 10, version, correlation id, no client id, group `g`. */
const FIND_COORDINATOR = Buffer.from([
  ...[0, 0, 0, 14, 0, 10, 0, 1, 0, 0, 0, 7, 255, 255],
  ...[0, 1, 'g'.charCodeAt(0), 0],
]);
/** The answer up to the error code: size, correlation id, throttle time, code. */
const ANSWER_BYTES = 14;
const NO_ERROR = 0;

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
          // Only the quick JIT compiler: this runs for less than a second.
          await run(
            java,
            ['-XX:TieredStopAtLevel=1', ...javaFlags('128m'), ...classPath, ...tool],
            {
              timeout: FORMAT_LIMIT_MS,
            },
          );
        } catch (error) {
          throw new LocalError(`failed to format Kafka's storage: ${messageOf(error)}`);
        }
      },
    };
  },

  // Looks up the coordinator of a group, which makes the broker create the topic of offsets: a
  // consumer that joins before it exists fails. The port opens slightly before the broker serves,
  // so the log is checked too.
  answers: (port) =>
    ask(port, FIND_COORDINATOR, (bytes) =>
      bytes.length < ANSWER_BYTES ? undefined : bytes.readInt16BE(ANSWER_BYTES - 2) === NO_ERROR,
    ),
};

function propertiesFile(data: string): string {
  return path.join(data, 'server.properties');
}

/** Written at every start, so that the data survives a change of ports. */
async function writeProperties({ data, port }: EnginePlace): Promise<void> {
  // Only this process connects to the controller, so any port will do.
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
    // A missing topic is an error in production too.
    'auto.create.topics.enable=false',
    // Kafka's own topics: one broker, few consumer groups.
    ...['offsets.topic', 'transaction.state.log', 'share.coordinator.state.topic'].flatMap(
      (topic) => [`${topic}.replication.factor=1`, `${topic}.num.partitions=4`],
    ),
    'transaction.state.log.min.isr=1',
    'share.coordinator.state.topic.min.isr=1',
    // The first member of a consumer group does not wait for others.
    'group.initial.rebalance.delay.ms=0',
    // A restarted broker is refused as a duplicate until the session of its killed run expires.
    // Under Kafka's default of nine seconds a restart would take twelve.
    'broker.session.timeout.ms=2500',
    'broker.heartbeat.interval.ms=500',
    // An idle broker wakes up less often: one coordinator of groups, and a record that shows the
    // controller alive every five seconds instead of twice a second.
    'group.coordinator.threads=1',
    'metadata.max.idle.interval.ms=5000',
    'num.network.threads=2',
    'num.io.threads=4',
    'num.recovery.threads.per.data.dir=2',
    // The default reserves 128 MiB of heap to compact two small topics.
    'log.cleaner.dedupe.buffer.size=8388608',
  ];
  writeFileSync(propertiesFile(data), `${lines.join('\n')}\n`);
}
