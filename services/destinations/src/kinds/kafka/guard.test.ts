import { createKafkaGuard } from './guard';

const METADATA: [number, number] = [3, 0];
const PRODUCE: [number, number] = [0, 3];
const AUTHENTICATE: [number, number] = [36, 0];

const int32 = (...values: number[]): Buffer => {
  const buffer = Buffer.alloc(4 * values.length);
  values.forEach((value, at) => buffer.writeInt32BE(value, 4 * at));
  return buffer;
};
const request = ([api, version]: [number, number], correlation = 7): Buffer =>
  Buffer.concat([int32(8), Buffer.from([0, api, 0, version]), int32(correlation)]);
const frame = (body: Buffer, correlation = 7): Buffer =>
  Buffer.concat([int32(4 + body.length), int32(correlation), body]);

/** What the client reads after one request. */
function read(requested: [number, number] | null, answer: Buffer): Buffer {
  const guard = createKafkaGuard();
  if (requested !== null) guard.onRequest(request(requested));
  return guard.inspect(answer);
}
/** No error, a null text, and the message. */
const scram = (message: string): Buffer =>
  frame(
    Buffer.concat([Buffer.from([0, 0, 0xff, 0xff]), int32(message.length), Buffer.from(message)]),
  );
const noTopics = frame(int32(0, 0));

test.each<[problem: string, requested: [number, number] | null, answer: Buffer]>([
  ['answered without a request', null, noTopics],
  ['answered with a frame below 4 bytes', METADATA, int32(0)],
  ['answered with a frame below 4 bytes', METADATA, int32(-2_147_483_648)],
  ['answered with a frame above 1024 KiB', METADATA, int32(2_147_483_647)],
  ['answered with a frame above 16 KiB', AUTHENTICATE, int32(20_000)],
  ['answered a request that was not sent', METADATA, frame(int32(0, 0), 8)],
  ['answered without a request', METADATA, Buffer.concat([noTopics, noTopics])],
  ['answered with a list that is too long', METADATA, frame(int32(2_147_483_647))],
  ['answered with a count or length outside its frame', METADATA, frame(int32(-2, 0))],
  ['answered with too few bytes', METADATA, frame(int32(1, 0))],
  ['answered with more bytes than the answer needs', METADATA, frame(int32(0, 0, 0))],
  ['SCRAM with fewer than 4,096 iterations', AUTHENTICATE, scram('r=a,s=b,i=4095')],
  ['SCRAM with fewer than 4,096 iterations', AUTHENTICATE, scram('r=a,s=b,i=many')],
  ['SCRAM with more than 65,536 iterations', AUTHENTICATE, scram('r=a,s=b,i=65537')],
  ['SCRAM with more than 65,536 iterations', AUTHENTICATE, scram('i=4096,r=a,s=b,i=99999')],
  ['SCRAM with more than 65,536 iterations', AUTHENTICATE, scram('r=a,s=b,i=2147483647')],
])('refuses a server that %s', (problem, requested, answer) => {
  expect(() => read(requested, answer)).toThrow(`the server broke the protocol: ${problem}`);
});

test('passes a SCRAM message with the usual iterations', () => {
  const answer = scram('r=a,s=b,i=8192');
  expect(read(AUTHENTICATE, answer)).toEqual(answer);
});

test('passes an answer once it is complete, whatever its chunks', () => {
  const guard = createKafkaGuard();
  guard.onRequest(request(METADATA));
  const passed = [...noTopics].map((byte) => guard.inspect(Buffer.of(byte)));
  expect(passed.slice(0, -1).every(({ length }) => length === 0)).toBe(true);
  expect(passed.at(-1)).toEqual(noTopics);
});

test.each([
  [2_147_483_647, 5_000],
  [1_000, 1_000],
  [-1, 0],
])('lowers a throttle time of %i ms to %i ms', (announced, wanted) => {
  const passed = read(PRODUCE, frame(int32(0, announced)));
  expect(passed.readInt32BE(passed.length - 4)).toBe(wanted);
});

test('refuses to send a request of a version that it cannot check', () => {
  expect(() => createKafkaGuard().onRequest(request([0, 9]))).toThrow('before Kafka 1.0');
});
