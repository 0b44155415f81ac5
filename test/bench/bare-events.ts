// The lower bound of an event's cost: the same libraries without any of our code, as three
// processes. FLOOR_PART selects one: node:http to Kafka, Kafka to Kafka with JSON read and written,
// or Kafka to the receiver over undici, with a signature. No order, no retries, no telemetry. No
// state either, unless FLOOR_DATABASE is set: then each partner has connections of its own to the
// receiver, and its events are inserted as one document every 100 ms, with the event log's indexes.
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { Kafka, type Message } from 'kafkajs';
import { MongoClient } from 'mongodb';
import { Agent } from 'undici';

const { FLOOR_PART, KAFKA_BROKERS, FLOOR_PORT, RECEIVER_URL, MONGO_URL, FLOOR_DATABASE } =
  process.env;
const kafka = new Kafka({ brokers: (KAFKA_BROKERS as string).split(','), logLevel: 1 });
const producer = kafka.producer();
const TOPICS = { webhook: 'floor.webhook', delivery: 'floor.delivery' };
const PARTITIONS = 12;
const POSTS_MAX = 64;
const PARTNER_POSTS_MAX = 16;
const STORE_EVERY_MS = 100;
const DUPLICATE_KEY = 11_000;
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

interface FloorEvent {
  waba_id: string;
  data: { message_id: string };
}

async function deliver(): Promise<void> {
  const store = FLOOR_DATABASE === undefined ? undefined : await openStore(FLOOR_DATABASE);
  const agents = new Map<string, Agent>();
  const agentOf = (owner: string): Agent => {
    const connections = store ? PARTNER_POSTS_MAX : POSTS_MAX;
    const agent = agents.get(owner) ?? new Agent({ connections, pipelining: 1 });
    agents.set(owner, agent);
    return agent;
  };
  await consume(TOPICS.delivery, async (bodies) => {
    await Promise.all(
      bodies.map(async (body) => {
        const headers = { 'content-type': 'application/json', 'x-service-signature': sign(body) };
        const origin = RECEIVER_URL as string;
        const post = { origin, path: '/bare', method: 'POST', headers, body } as const;
        const event = store && (JSON.parse(String(body)) as FloorEvent);
        if (event) store.add(event, body);
        const answer = await agentOf(event?.waba_id ?? 'all').request(post);
        await answer.body.dump();
      }),
    );
  });
}

/** Inserts the events that came in the meantime, one document for each partner. */
async function openStore(database: string) {
  const client = await MongoClient.connect(MONGO_URL as string);
  const buckets = client.db(database).collection('events');
  await buckets.createIndexes([
    { key: { 'events.event_id': 1 }, unique: true },
    { key: { partner_id: 1, at: 1 } },
    { key: { at: 1 } },
  ]);
  let waiting = new Map<string, Array<{ event_id: string; body: Buffer }>>();
  const write = async (): Promise<void> => {
    const taken = waiting;
    waiting = new Map();
    const at = new Date();
    const rows = [...taken].map(([partner_id, events]) => ({
      partner_id,
      at,
      events: events.map(({ event_id }) => ({ event_id })),
      packed: Buffer.concat(events.map(({ body }) => body)),
    }));
    // Kafka delivers again what a process had not committed when another one joined.
    if (rows.length > 0) {
      await buckets.insertMany(rows, { ordered: false }).catch((error: { code?: number }) => {
        if (error.code !== DUPLICATE_KEY) throw error;
      });
    }
    setTimeout(() => void write(), STORE_EVERY_MS);
  };
  await write();
  return {
    add({ waba_id, data }: FloorEvent, body: Buffer): void {
      const event = { event_id: data.message_id, body };
      const events = waiting.get(waba_id);
      if (events) events.push(event);
      else waiting.set(waba_id, [event]);
    },
  };
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
