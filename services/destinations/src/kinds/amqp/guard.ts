// Checks an AMQP server's frames before amqplib reads them: only the methods that a publisher is
// sent, confirms of what was published, and returned messages that were.
import { ProtocolBroken } from '@bmg/common/outbound';
import { createFrames } from '../frames';

const HEAD_BYTES = 7;
const END_BYTES = 1;
const FRAME_END = 0xce;
const [METHOD, HEADER, BODY, HEARTBEAT] = [1, 2, 3, 8];
/** The protocol's bounds; a frame's size does not count its head and end. */
const FRAME_MIN_BYTES = 4_096;
export const FRAME_MAX_BYTES = 131_072;
const OVERHEAD_BYTES = HEAD_BYTES + END_BYTES;
/** Longest method: `start` has a table of the server's properties. */
const METHOD_MAX_BYTES = 16 * 1024;
const METHOD_ID_BYTES = 4;
const CONTENT_SIZE_AT = 4;
const CONTENT_HEAD_BYTES = 14;
/** The channel of the publisher; 0 is the connection itself. */
const CHANNEL = 1;

const methodId = (classId: number, method: number): number => classId * 0x10000 + method;
const START = methodId(10, 10);
const TUNE = methodId(10, 30);
const OPEN_OK = methodId(10, 41);
const CLOSE = methodId(10, 50);
const CLOSE_OK = methodId(10, 51);
const BLOCKED = methodId(10, 60);
const UNBLOCKED = methodId(10, 61);
const RETURN = methodId(60, 50);
const ACK = methodId(60, 80);
const NACK = methodId(60, 120);
/** Sent at most once on a connection. */
const ONCE: readonly ReadonlySet<number>[] = [
  new Set([START, TUNE, OPEN_OK, CLOSE, CLOSE_OK]),
  // channel.open-ok, channel.close and its answer, exchange and queue declare-ok,
  // confirm.select-ok.
  new Set([
    methodId(20, 11),
    methodId(20, 40),
    methodId(20, 41),
    methodId(40, 11),
    methodId(50, 11),
    methodId(85, 11),
  ]),
];
/** Heartbeats and blocked or unblocked in a second; RabbitMQ sends a heartbeat every five. */
const NOTICES_MAX = 20;
const SECOND_MS = 1_000;

export type AmqpGuard = ReturnType<typeof createAmqpGuard>;

/** The state of one connection. */
export function createAmqpGuard() {
  const confirms = createConfirms();
  const content = createContent(confirms);
  const notices = createNotices();
  const seen = new Set<string>();
  let isOpen = false;
  let is_blocked = false;

  /** An error right after the handshake has no listener yet, and would end the process. */
  const checkHandshake = (channel: number, id: number): void => {
    if (isOpen) return;
    if (channel !== 0 || (seen.has(`0-${OPEN_OK}`) && id !== BLOCKED && id !== UNBLOCKED)) {
      throw new ProtocolBroken('sent more than the handshake');
    }
  };
  const onMethod = (channel: number, payload: Buffer): void => {
    if (payload.length < METHOD_ID_BYTES) throw new ProtocolBroken('sent a method without a name');
    const id = payload.readUInt32BE(0);
    const fields = payload.subarray(METHOD_ID_BYTES);
    checkHandshake(channel, id);
    if (channel === CHANNEL && content.isOpen()) {
      throw new ProtocolBroken('interrupted a returned message');
    }
    if (ONCE[channel]?.has(id) === true) {
      const key = `${channel}-${id}`;
      if (seen.has(key)) throw new ProtocolBroken('repeated an answer');
      seen.add(key);
      if (id === TUNE) checkTune(fields);
    } else if (channel === 0 && (id === BLOCKED || id === UNBLOCKED)) {
      notices.count();
      is_blocked = id === BLOCKED;
    } else if (channel === CHANNEL && (id === ACK || id === NACK)) confirms.confirm(fields);
    else if (channel === CHANNEL && id === RETURN) content.start();
    else throw new ProtocolBroken('sent a method that no publisher expects');
  };
  const check = (frame: Buffer): void => {
    if (frame.at(-1) !== FRAME_END) throw new ProtocolBroken('sent a frame without its end');
    const [type, channel] = [frame.readUInt8(0), frame.readUInt16BE(1)];
    const payload = frame.subarray(HEAD_BYTES, -END_BYTES);
    if (type === METHOD) onMethod(channel, payload);
    else if (type === HEADER && channel === CHANNEL) content.onHeader(payload);
    else if (type === BODY && channel === CHANNEL) content.onBody(payload.length);
    else notices.count();
  };
  return {
    /** The handshake is over and amqplib has a listener for errors. */
    onOpen: () => void (isOpen = true),
    onPublish: confirms.publish,
    /** The server takes no messages at the moment. */
    get is_blocked() {
      return is_blocked;
    },
    inspect: createFrames({ head_bytes: HEAD_BYTES, sizeOf, check }),
  };
}

function checkTune(fields: Buffer): void {
  const frame_max = fields.length < 6 ? 1 : fields.readUInt32BE(2);
  // No limit is 0; the client then sets its own.
  if (frame_max > 0 && frame_max < FRAME_MIN_BYTES) {
    throw new ProtocolBroken('allows no frames of 4,096 bytes');
  }
}

function sizeOf(head: Buffer): number {
  const [type, channel, size] = [head.readUInt8(0), head.readUInt16BE(1), head.readUInt32BE(3)];
  if (![METHOD, HEADER, BODY, HEARTBEAT].includes(type)) {
    throw new ProtocolBroken('sent a frame of an unknown type');
  }
  if (channel > (type === HEARTBEAT ? 0 : CHANNEL)) {
    throw new ProtocolBroken('used a channel that is not open');
  }
  const max = type === BODY ? FRAME_MAX_BYTES - OVERHEAD_BYTES : METHOD_MAX_BYTES;
  if (size > (type === HEARTBEAT ? 0 : max)) throw new ProtocolBroken('sent a frame too large');
  return HEAD_BYTES + size + END_BYTES;
}

/** amqplib keeps an array from the first unconfirmed tag on, and trusts the server's tags. */
function createConfirms() {
  /** Sizes of the unconfirmed messages by tag, in order. */
  const unconfirmed = new Map<number, number>();
  let last = 0;
  /** Returned messages of which the confirm is outstanding. */
  let returned = 0;

  return {
    /** Counts a message that is about to be published. */
    publish(bytes: number): void {
      last += 1;
      unconfirmed.set(last, bytes);
    },
    confirm(fields: Buffer): void {
      if (fields.length < 9) throw new ProtocolBroken('sent a confirm without its fields');
      const tag = Number(fields.readBigUInt64BE(0));
      const multiple = (fields.readUInt8(8) & 1) === 1;
      if (tag < 1 || tag > last) {
        throw new ProtocolBroken('confirmed a message that was not published');
      }
      if (!unconfirmed.has(tag)) throw new ProtocolBroken('confirmed a message twice');
      const before = unconfirmed.size;
      if (!multiple) unconfirmed.delete(tag);
      else {
        for (const one of unconfirmed.keys()) {
          if (one > tag) break;
          unconfirmed.delete(one);
        }
      }
      returned = Math.max(0, returned - (before - unconfirmed.size));
    },
    /** The largest body that may be returned. Throws if no more messages can be. */
    takeReturn(): number {
      if (returned >= unconfirmed.size) {
        throw new ProtocolBroken('returned a message that was not published');
      }
      returned += 1;
      return Math.max(...unconfirmed.values());
    },
  };
}

/** A returned message: its method, then its header, then its body in frames. */
function createContent(confirms: ReturnType<typeof createConfirms>) {
  let state: 'none' | 'header' | 'body' = 'none';
  let max_bytes = 0;
  let left_bytes = 0;
  let left_frames = 0;

  return {
    isOpen: () => state !== 'none',
    start() {
      max_bytes = confirms.takeReturn();
      state = 'header';
    },
    onHeader(payload: Buffer) {
      if (state !== 'header' || payload.length < CONTENT_HEAD_BYTES) {
        throw new ProtocolBroken('sent an unexpected message');
      }
      const size = payload.readBigUInt64BE(CONTENT_SIZE_AT);
      if (size > BigInt(max_bytes)) {
        throw new ProtocolBroken('returned a message larger than those published');
      }
      left_bytes = Number(size);
      left_frames = Math.ceil(left_bytes / (FRAME_MIN_BYTES - OVERHEAD_BYTES));
      state = left_bytes === 0 ? 'none' : 'body';
    },
    onBody(bytes: number) {
      left_bytes -= bytes;
      left_frames -= 1;
      if (state !== 'body' || left_bytes < 0 || left_frames < 0 || bytes === 0) {
        throw new ProtocolBroken('sent an unexpected message body');
      }
      if (left_bytes === 0) state = 'none';
    },
  };
}

function createNotices() {
  let since = performance.now();
  let count = 0;
  return {
    count() {
      const now = performance.now();
      if (now - since >= SECOND_MS) {
        since = now;
        count = 0;
      }
      count += 1;
      if (count > NOTICES_MAX) throw new ProtocolBroken('sent too many heartbeats');
    },
  };
}
