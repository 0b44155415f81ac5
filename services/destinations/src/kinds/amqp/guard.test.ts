import { createAmqpGuard } from './guard';

const FRAME_END = 0xce;
function frame(type: number, channel: number, payload: Buffer, end = FRAME_END): Buffer {
  const head = Buffer.alloc(7);
  head.writeUInt8(type, 0);
  head.writeUInt16BE(channel, 1);
  head.writeUInt32BE(payload.length, 3);
  return Buffer.concat([head, payload, Buffer.of(end)]);
}
const method = (channel: number, ids: [number, number], ...fields: number[]): Buffer =>
  frame(1, channel, Buffer.from([0, ids[0], 0, ids[1], ...fields]));
function confirm(tag: bigint, multiple = false): Buffer {
  const fields = Buffer.alloc(9);
  fields.writeBigUInt64BE(tag, 0);
  fields.writeUInt8(Number(multiple), 8);
  return method(1, [60, 80], ...fields);
}
const returned = method(1, [60, 50], 0, 0, 0, 0, 0);
function header(size: bigint): Buffer {
  const payload = Buffer.alloc(14);
  payload.writeUInt16BE(60, 0);
  payload.writeBigUInt64BE(size, 4);
  return frame(2, 1, payload);
}
const body = (bytes: number): Buffer => frame(3, 1, Buffer.alloc(bytes));
const heartbeat = frame(8, 0, Buffer.alloc(0));

/** What the client reads after it has published messages of 1,000 bytes. */
function read(published: number, ...frames: Buffer[]): Buffer {
  const guard = createAmqpGuard();
  guard.onOpen();
  for (let n = 0; n < published; n += 1) guard.onPublish(1_000);
  return guard.inspect(Buffer.concat(frames));
}

test.each<[problem: string, published: number, frames: Buffer[]]>([
  ['confirmed a message that was not published', 2, [confirm(4_294_967_200n), confirm(1n)]],
  ['confirmed a message that was not published', 2, [confirm(0n, true)]],
  ['confirmed a message that was not published', 2, [confirm(2n ** 63n)]],
  ['confirmed a message twice', 2, [confirm(2n), confirm(2n)]],
  ['confirmed a message twice', 2, [confirm(2n, true), confirm(1n)]],
  ['returned a message that was not published', 0, [returned]],
  ['returned a message that was not published', 1, [returned, header(0n), returned]],
  ['returned a message that was not published', 1, [confirm(1n), returned]],
  ['returned a message larger than those published', 1, [returned, header(2n ** 40n)]],
  ['sent an unexpected message body', 1, [returned, header(900n), body(901)]],
  ['sent an unexpected message body', 1, [returned, header(900n), body(1), body(1)]],
  ['sent an unexpected message body', 1, [returned, header(900n), body(0)]],
  ['sent an unexpected message', 1, [header(10n)]],
  ['interrupted a returned message', 1, [returned, confirm(1n)]],
  ['sent a method that no publisher expects', 1, [method(1, [60, 60])]],
  ['sent a method that no publisher expects', 1, [method(0, [10, 20])]],
  ['repeated an answer', 0, [method(1, [20, 11]), method(1, [20, 11])]],
  ['used a channel that is not open', 0, [method(2, [20, 11])]],
  ['sent a frame of an unknown type', 0, [frame(4, 0, Buffer.alloc(0))]],
  ['sent a frame too large', 0, [frame(1, 0, Buffer.alloc(16_385))]],
  ['sent a frame too large', 0, [frame(3, 1, Buffer.alloc(131_072))]],
  ['sent a frame too large', 0, [frame(8, 0, Buffer.alloc(1))]],
  ['sent a frame without its end', 0, [frame(8, 0, Buffer.alloc(0), 0)]],
  ['allows no frames of 4,096 bytes', 0, [method(0, [10, 30], 0, 0, 0, 0, 15, 255, 0, 0)]],
  ['sent too many heartbeats', 0, Array<Buffer>(21).fill(heartbeat)],
])('refuses a server that %s (%i published)', (problem, published, frames) => {
  expect(() => read(published, ...frames)).toThrow(`the server broke the protocol: ${problem}`);
});

test('passes confirms in any order and returned messages', () => {
  const frames = [returned, header(1_000n), body(1_000), confirm(2n), heartbeat, confirm(3n, true)];
  expect(read(3, ...frames)).toEqual(Buffer.concat(frames));
});

test('a server that blocks publishers beside its last answer of the handshake is blocked', () => {
  const guard = createAmqpGuard();
  const openOk = method(0, [10, 41], 0);
  guard.inspect(Buffer.concat([openOk, method(0, [10, 60], 0)]));
  expect(guard.is_blocked).toBe(true);
  guard.onOpen();
  guard.inspect(method(0, [10, 61]));
  expect(guard.is_blocked).toBe(false);
});
