// The bare chain, first half: koa → one unary gRPC call, and nothing else. REDIS_URL adds what the
// contract requires of each request: a count and a read in Redis.
import { Redis } from 'ioredis';
import Koa from 'koa';
import { Client, credentials } from '@grpc/grpc-js';
import { SendResult, SendTextRequest } from '@bmg/proto/messaging';

const client = new Client(process.env['YARDSTICK_ADDR'] as string, credentials.createInsecure());
const redis = process.env['REDIS_URL']
  ? new Redis(process.env['REDIS_URL'], { enableAutoPipelining: true })
  : undefined;
const app = new Koa();
app.use(async (context) => {
  if (redis) await Promise.all([redis.incr('bench:limit'), redis.mget('bench:a', 'bench:b')]);
  const chunks: Buffer[] = [];
  for await (const chunk of context.req) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString()) as { to: string; text: string };
  const reply = await new Promise<{ message_id: string }>((resolve, reject) => {
    client.makeUnaryRequest(
      '/bmg.messaging.v1.Messaging/SendText',
      (message: object) =>
        Buffer.from(SendTextRequest.encode(SendTextRequest.fromPartial(message)).finish()),
      (bytes: Buffer) => SendResult.decode(bytes),
      { recipient: { to: body.to }, text: body.text },
      (error, value) => (error || !value ? reject(error) : resolve(value)),
    );
  });
  context.body = { success: true, message_id: reply.message_id };
});
app.listen(Number(process.env['EDGE_PORT']), '127.0.0.1');
