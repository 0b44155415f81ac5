// The processes of a benchmark beside the mesh; PART selects one: the stub of the upstream, which
// serves the mesh and the bare chains alike, and the parts of the bare chains. These are the lower
// bounds of what a send and an event cost: the same libraries with nothing of ours.
// - A send: `edge`, koa to one unary gRPC call, and `service`, from there to one undici request.
// - An event: `ingress`, node:http to Kafka; `fanout`, Kafka to Kafka with JSON read and written;
//   `deliver`, Kafka to the receiver over undici, with a signature. No order, no retries, no
//   telemetry.
// They keep no state unless STORING is set: then a send has a count and a read in Redis, and its
// record in MongoDB before the answer; each partner has connections of its own to the receiver, and
// its events are inserted as one document every 100 ms, with the event log's indexes.
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { Client, credentials, Server, ServerCredentials } from '@grpc/grpc-js';
import { Redis } from 'ioredis';
import { Kafka, type Message } from 'kafkajs';
import Koa from 'koa';
import { MongoClient } from 'mongodb';
import { Agent } from 'undici';
import { SendResult, SendTextRequest } from '@bmg/proto/messaging';
import { bodyOf, statusChange } from '../testkit/upstream-webhooks';
import { createWireClient, HOST, respond, SILENT, startWireServer, wireWebhook } from './load';

/** PORT is where the part listens, if it does. */
const { PORT, SERVICE_ADDR, UPSTREAM_URL, RECEIVER_URL, KAFKA_BROKERS } = process.env;
const { PART, STORING, MONGO_URL, REDIS_URL, STUB_ACCOUNTS, INGRESS_URL } = process.env;
const SEND_TEXT = '/bmg.messaging.v1.Messaging/SendText';
const TOPICS = { webhook: 'floor.webhook', delivery: 'floor.delivery' };
const PARTITIONS = 12;
const POSTS_MAX = 64;
const PARTNER_POSTS_MAX = 16;
const STORE_EVERY_MS = 100;
const DUPLICATE_KEY = 11_000;
const SECRET = 'app-secret-local';

const STATUSES = ['sent', 'delivered', 'read'];

/**
 * The upstream, with minimal HTTP. It posts the statuses of each send that is not silent, in a
 * webhook each; STUB_ACCOUNTS has the account of each number.
 */
function stub(): void {
  const accounts = JSON.parse(STUB_ACCOUNTS as string) as Record<string, string>;
  const ask = createWireClient(INGRESS_URL as string);

  /** Each after the one before it was answered, as they take place. */
  async function postStatuses(path: string, id: string, sent: string): Promise<void> {
    const phone_number_id = path.split('/').at(-2) ?? '';
    const { to, biz_opaque_callback_data } = JSON.parse(sent) as Record<string, string>;
    const number = { waba_id: accounts[phone_number_id] ?? '', phone_number_id };
    for (const status of STATUSES) {
      const change = statusChange(number, id, status, {
        timestamp: String(Math.floor(Date.now() / 1_000)),
        recipient_id: to,
        biz_opaque_callback_data,
        pricing: { billable: true, pricing_model: 'PMP', category: 'service' },
      });
      await ask(wireWebhook(INGRESS_URL as string, bodyOf(number, [change])));
    }
  }

  let count = 0;
  const contacts = [{ input: '15550100777', wa_id: '15550100777' }];
  startWireServer(Number(PORT), ({ path, body }, socket) => {
    count += 1;
    const id = `wamid.BENCH${count}`;
    respond(
      socket,
      JSON.stringify({ messaging_product: 'whatsapp', contacts, messages: [{ id }] }),
    );
    const is_send = path.endsWith('/messages');
    if (is_send && !body.includes(SILENT)) void postStatuses(path, id, body);
  });
}

const database = () => new MongoClient(MONGO_URL as string).db('floor');

const encode = (message: SendTextRequest): Buffer =>
  Buffer.from(SendTextRequest.encode(message).finish());

function edge(): void {
  const client = new Client(SERVICE_ADDR as string, credentials.createInsecure());
  const redis = STORING ? new Redis(String(REDIS_URL), { enableAutoPipelining: true }) : undefined;
  const app = new Koa();
  app.use(async (context) => {
    if (redis) await Promise.all([redis.incr('bench:limit'), redis.mget('bench:a', 'bench:b')]);
    const chunks: Buffer[] = [];
    for await (const chunk of context.req) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as { to: string; text: string };
    const request = SendTextRequest.fromPartial({ recipient: { to: body.to }, text: body.text });
    const reply = await new Promise<SendResult>((resolve, reject) => {
      client.makeUnaryRequest(
        SEND_TEXT,
        encode,
        (bytes: Buffer) => SendResult.decode(bytes),
        request,
        (error, value) => (error || !value ? reject(error) : resolve(value)),
      );
    });
    context.body = { success: true, message_id: reply.message_id };
  });
  app.listen(Number(PORT), HOST);
}

function service(): void {
  const agent = new Agent({ connections: 256 });
  const records = STORING ? database().collection('messages') : undefined;
  const send = async ({ recipient, text }: SendTextRequest): Promise<SendResult> => {
    const to = recipient?.to;
    const answer = await agent.request({
      origin: UPSTREAM_URL as string,
      path: '/v26.0/800000000000001/messages',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        messaging_product: 'whatsapp',
        to,
        type: 'text',
        text: { body: text },
      }),
    });
    const body = (await answer.body.json()) as { messages: [{ id: string }] };
    const message_id = body.messages[0].id;
    await records?.insertOne({ message_id, to, at: new Date() });
    return { message_id, message_status: undefined, contacts: [] };
  };
  const server = new Server();
  server.addService(
    {
      SendText: {
        path: SEND_TEXT,
        requestStream: false,
        responseStream: false,
        requestSerialize: encode,
        requestDeserialize: (bytes: Buffer) => SendTextRequest.decode(bytes),
        responseSerialize: (result: SendResult) => Buffer.from(SendResult.encode(result).finish()),
        responseDeserialize: (bytes: Buffer) => SendResult.decode(bytes),
      },
    },
    {
      SendText: (
        call: { request: SendTextRequest },
        reply: (error: Error | null, value?: SendResult) => void,
      ) => void send(call.request).then((result) => reply(null, result), reply),
    },
  );
  server.bindAsync(SERVICE_ADDR as string, ServerCredentials.createInsecure(), () => {});
}

const sign = (body: Buffer): string => createHmac('sha256', SECRET).update(body).digest('hex');

/** Only the parts of an event connect to Kafka. */
const kafka = new Kafka({ brokers: (KAFKA_BROKERS as string).split(','), logLevel: 1 });
const producer = kafka.producer();

/** Responds to a post once Kafka has it; posts that arrive during one write form the next one. */
async function ingress(): Promise<void> {
  await createTopics();
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
  }).listen(Number(PORT), HOST);
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
  await createTopics();
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
  await createTopics();
  const store = STORING ? await openStore() : undefined;
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
async function openStore() {
  const buckets = database().collection('events');
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

/** Each of these parts makes the topics: they start at the same time. */
async function createTopics(): Promise<void> {
  const admin = kafka.admin();
  await admin.createTopics({
    topics: Object.values(TOPICS).map((topic) => ({ topic, numPartitions: PARTITIONS })),
  });
  await admin.disconnect();
}

const PARTS: Record<string, () => unknown> = { stub, edge, service, ingress, fanout, deliver };
PARTS[PART as string]?.();
