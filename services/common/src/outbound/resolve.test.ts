import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { ConnectFailed } from './failures';
import { dnsResolve, systemResolve } from './addresses';

const TYPE_A = 1;
const TYPE_AAAA = 28;
const NAME_ERROR = 3;
const SERVER_FAILURE = 2;

// A name server that answers from a function: a list of addresses as bytes, or an error code.
let server: Socket;
let asked: string[];
let answer: (name: string, type: number) => number[][] | number;

beforeAll(async () => {
  server = createSocket('udp4');
  server.on('message', (query, peer) => {
    server.send(reply(query), peer.port, peer.address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => server.close());
beforeEach(() => (asked = []));

function reply(query: Buffer): Buffer {
  const labels: string[] = [];
  let offset = 12;
  for (let size = query.readUInt8(offset); size > 0; size = query.readUInt8(offset)) {
    labels.push(query.toString('latin1', offset + 1, offset + 1 + size));
    offset += 1 + size;
  }
  const type = query.readUInt16BE(offset + 1);
  const name = labels.join('.');
  asked.push(name);
  const found = answer(name, type);
  const records = typeof found === 'number' ? [] : found;
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x8180 | (typeof found === 'number' ? found : 0), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(records.length, 6);
  const answers = records.map((bytes) => {
    const record = Buffer.alloc(12);
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(bytes.length, 10);
    return Buffer.concat([record, Buffer.from(bytes)]);
  });
  return Buffer.concat([head, query.subarray(12, offset + 5), ...answers]);
}

const resolver = () => dnsResolve([`127.0.0.1:${server.address().port}`]);
const v6 = [0x26, 0x06, 0x47, 0, 0x47, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0x11];

test('resolves a name to all its addresses, IPv4 first', async () => {
  answer = (_name, type) =>
    type === TYPE_A
      ? [
          [8, 8, 8, 8],
          [8, 8, 4, 4],
        ]
      : [v6];
  await expect(resolver()('partner.example')).resolves.toEqual([
    { address: '8.8.8.8', family: 4 },
    { address: '8.8.4.4', family: 4 },
    { address: '2606:4700:4700::1111', family: 6 },
  ]);
});

test('succeeds if one address family has no answer', async () => {
  answer = (_name, type) => (type === TYPE_AAAA ? SERVER_FAILURE : [[8, 8, 8, 8]]);
  await expect(resolver()('partner.example')).resolves.toHaveLength(1);
});

test('queries exactly the given name, without search domains', async () => {
  answer = () => NAME_ERROR;
  await resolver()('redis').catch(() => undefined);
  expect(new Set(asked)).toEqual(new Set(['redis']));
});

test.each([
  ['a name that does not exist', NAME_ERROR, false],
  ['a name without addresses', [], false],
  ['a failing name server', SERVER_FAILURE, true],
])('%s is a failure of dns', async (_case, found, transient) => {
  answer = () => found;
  const error: unknown = await resolver()('nowhere.example').catch((e: unknown) => e);
  expect(error).toBeInstanceOf(ConnectFailed);
  expect(error).toMatchObject({ failure: 'dns', transient });
});

test('resolves localhost in the look-up for local development', async () => {
  const loopback = [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ];
  await expect(systemResolve('localhost')).resolves.toEqual(loopback);
  await expect(systemResolve('hooks.localhost')).resolves.toEqual(loopback);
});
