// Everything that a mesh has published.
import { Kafka, logLevel, type KafkaMessage } from 'kafkajs';
import { eventually } from './eventually';

/** Every message in the mesh's topics; of its environment or settings, those of Kafka are read. */
export async function topicMessages(env: NodeJS.ProcessEnv): Promise<KafkaMessage[]> {
  const kafka = new Kafka({
    brokers: (env['KAFKA_BROKERS'] as string).split(','),
    logLevel: logLevel.NOTHING,
  });
  const prefix = env['KAFKA_TOPIC_PREFIX'] as string;
  const admin = kafka.admin();
  await admin.connect();
  const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(prefix));
  let expected = 0;
  for (const topic of topics) {
    for (const { high, low } of await admin.fetchTopicOffsets(topic)) {
      expected += Number(high) - Number(low);
    }
  }
  await admin.disconnect();
  const found: KafkaMessage[] = [];
  const consumer = kafka.consumer({ groupId: `${prefix}reader-${Date.now()}` });
  await consumer.connect();
  await consumer.subscribe({ topics, fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ message }) => {
      found.push(message);
    },
  });
  await eventually(() => found.length >= expected);
  await consumer.disconnect();
  return found;
}

/** The headers of a message as text. */
export const headerText = ({ headers = {} }: KafkaMessage): string =>
  JSON.stringify(Object.entries(headers).map(([name, value]) => [name, String(value)]));
