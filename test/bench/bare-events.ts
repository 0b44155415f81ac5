// The lower bound of an event's cost: the same libraries without any of our code, as three
// processes. FLOOR_PART selects one: node:http to Kafka, Kafka to Kafka with JSON read and written,
// or Kafka to the receiver over undici, with a signature. No state, no order, no retries, no
// telemetry.
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { Kafka, type Message } from 'kafkajs';
import { Agent } from 'undici';

const { FLOOR_PART, KAFKA_BROKERS, FLOOR_PORT, RECEIVER_URL } = process.env;
const kafka = new Kafka({ brokers: (KAFKA_BROKERS as string).split(','), logLevel: 1 });
const producer = kafka.producer();
const TOPICS = { webhook: 'floor.webhook', delivery: 'floor.delivery' };
const PARTITIONS = 12;
const POSTS_MAX = 64;
const SECRET = 'app-secret-local';

const sign = (body: Buffer): string => createHmac('sha256', SECRET).update(body).digest('hex');

/** Responds to a post once Kafka has it; posts that arrive during one write form the next one. */
async function ingress(): Promise<void> {
  await producer.connect();
  const waiting: Array<{ message: Message; done: () => void }> = [];
  let sending = false;
  const send = async (): Promise<void> => {
    sending = true;
    while (waiting.length > 0) {
      const batch = waiting.splice(0);
      await producer.send({ topic: TOPICS.webhook, messages: batch.map(({ message }) => message) });
      for (const { done } of batch) done();
    }
    sending = false;
  };
  createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      if (request.headers['x-hub-signature-256'] !== `sha256=${sign(body)}`) {
        response.writeHead(401).end();
        return;
      }
      waiting.push({ message: { value: body }, done: () => response.end('ok') });
      if (!sending) void send();
    });
  }).listen(Number(FLOOR_PORT), '127.0.0.1');
}

async function consume(topic: string, handle: (bodies: Buffer[]) => Promise<void>): Promise<void> {
  const consumer = kafka.consumer({ groupId: `${topic}.group` });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({
    partitionsConsumedConcurrently: PARTITIONS,
    eachBatch: ({ batch }) => handle(batch.messages.map(({ value }) => value as Buffer)),
  });
}

async function fanout(): Promise<void> {
  await producer.connect();
  await consume(TOPICS.webhook, async (bodies) => {
    const messages = bodies.flatMap((body) => {
      const { entry } = JSON.parse(String(body));
      const [{ value }] = entry[0].changes;
      return value.messages.map((message: { id: string; from: string; text: object }) => ({
        key: message.from,
        value: JSON.stringify({
          event: 'message.received',
          waba_id: entry[0].id,
          data: { message_id: message.id, from: message.from, ...message.text, raw: value },
        }),
      }));
    });
    await producer.send({ topic: TOPICS.delivery, messages });
  });
}

async function deliver(): Promise<void> {
  const agent = new Agent({ connections: POSTS_MAX, pipelining: 1 });
  await consume(TOPICS.delivery, async (bodies) => {
    await Promise.all(
      bodies.map(async (body) => {
        const headers = { 'content-type': 'application/json', 'x-service-signature': sign(body) };
        const origin = RECEIVER_URL as string;
        const answer = await agent.request({
          origin,
          path: '/bare',
          method: 'POST',
          headers,
          body,
        });
        await answer.body.dump();
      }),
    );
  });
}

async function main(): Promise<void> {
  const admin = kafka.admin();
  await admin.createTopics({
    topics: Object.values(TOPICS).map((topic) => ({ topic, numPartitions: PARTITIONS })),
  });
  await admin.disconnect();
  await PARTS[FLOOR_PART as string]?.();
}

const PARTS: Record<string, () => Promise<void>> = { ingress, fanout, deliver };
void main();
