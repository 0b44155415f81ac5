// Calls on a connection that has reached its age, while both sides ping it.
import {
  credentials,
  makeGenericClientConstructor,
  Server,
  ServerCredentials,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServiceDefinition,
} from '@grpc/grpc-js';
import './closing-sessions';

const AGE_MS = 100;
const PING_MS = 100;
const CALL_MS = 700;
const LIMIT_MS = 20_000;

const bytes = (value: Buffer): Buffer => value;
const SERVICE = {
  slow: {
    path: '/test.Slow/Slow',
    requestStream: false,
    responseStream: false,
    requestSerialize: bytes,
    requestDeserialize: bytes,
    responseSerialize: bytes,
    responseDeserialize: bytes,
  },
} satisfies ServiceDefinition;
const Client = makeGenericClientConstructor(SERVICE, 'Slow');
type Slow = (
  request: Buffer,
  options: { deadline: number },
  done: (error: Error | null) => void,
) => void;

test.each([
  ['the client', { client: PING_MS, server: LIMIT_MS }],
  ['the server', { client: LIMIT_MS, server: PING_MS }],
])(
  'calls in flight outlast the age of their connection when %s pings it',
  async (_side, keepalive) => {
    const server = new Server({
      'grpc.max_connection_age_ms': AGE_MS,
      'grpc.max_connection_age_grace_ms': LIMIT_MS,
      'grpc.keepalive_time_ms': keepalive.server,
    });
    server.addService(SERVICE, {
      slow: ({ request }: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) =>
        void setTimeout(() => done(null, request), CALL_MS),
    });
    const port = await new Promise<number>((resolve, reject) =>
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      ),
    );
    const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
      'grpc.keepalive_time_ms': keepalive.client,
    });
    const call = () =>
      new Promise<Error | null>((resolve) =>
        (client['slow'] as unknown as Slow)(
          Buffer.from('x'),
          { deadline: Date.now() + LIMIT_MS },
          resolve,
        ),
      );
    try {
      expect(await Promise.all([call(), call(), call()])).toEqual([null, null, null]);
    } finally {
      client.close();
      server.forceShutdown();
    }
  },
);
