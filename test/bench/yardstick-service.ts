// The bare chain, second half: a unary gRPC method → one undici request, and nothing else.
// MONGO_URL adds the record of the message, stored before the answer.
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { SendResult, SendTextRequest } from '@bmg/proto/messaging';
import { MongoClient } from 'mongodb';
import { Agent } from 'undici';

const agent = new Agent({ connections: 256 });
const records = process.env['MONGO_URL']
  ? new MongoClient(process.env['MONGO_URL']).db('bench-yardstick').collection('messages')
  : undefined;
const server = new Server();
server.addService(
  {
    SendText: {
      path: '/bmg.messaging.v1.Messaging/SendText',
      requestStream: false,
      responseStream: false,
      requestSerialize: (message: SendTextRequest) =>
        Buffer.from(SendTextRequest.encode(message).finish()),
      requestDeserialize: (bytes: Buffer) => SendTextRequest.decode(bytes),
      responseSerialize: (message: SendResult) => Buffer.from(SendResult.encode(message).finish()),
      responseDeserialize: (bytes: Buffer) => SendResult.decode(bytes),
    },
  },
  {
    SendText: (
      call: { request: SendTextRequest },
      reply: (error: Error | null, value?: SendResult) => void,
    ) => {
      agent
        .request({
          origin: process.env['UPSTREAM_URL'] as string,
          path: '/v26.0/800000000000001/messages',
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            messaging_product: 'whatsapp',
            to: call.request.recipient?.to,
            type: 'text',
            text: { body: call.request.text },
          }),
        })
        .then(async (answer) => {
          const body = (await answer.body.json()) as { messages: [{ id: string }] };
          const message_id = body.messages[0].id;
          await records?.insertOne({ message_id, to: call.request.recipient?.to, at: new Date() });
          reply(null, { message_id, message_status: undefined, contacts: [] });
        }, reply);
    },
  },
);
server.bindAsync(
  process.env['YARDSTICK_ADDR'] as string,
  ServerCredentials.createInsecure(),
  () => {},
);
