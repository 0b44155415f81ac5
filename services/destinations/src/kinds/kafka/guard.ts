// Checks a Kafka server's answers before kafkajs reads them: only answers to requests, in their order,
// with the shape that the request's version has.
import { ProtocolBroken, type Inspect } from '@bmg/common/outbound';
import { checkAnswer, SASL_AUTHENTICATE, shapeOf, type AnswerShape } from './answers';

const LENGTH_BYTES = 4;
/** The correlation ID that each answer starts with. */
const FRAME_MIN_BYTES = 4;
const API_AT = 4;
const VERSION_AT = 6;
const CORRELATION_AT = 8;
/** RFC 7677; the maximum takes some 50 ms. */
const ITERATIONS_MIN = 4_096;
const ITERATIONS_MAX = 65_536;
const ITERATIONS = /^i=(\d+)$/;

export interface KafkaGuard {
  /** Remembers a request that is about to be written. Throws ProtocolBroken. */
  onRequest(request: Buffer): void;
  /** Whether a request has no answer yet. */
  isWaiting(): boolean;
  inspect: Inspect;
}

interface Unanswered {
  shape: AnswerShape;
  api: number;
  version: number;
  correlation: number;
}

/** The state of one connection. */
export function createKafkaGuard(): KafkaGuard {
  /** Requests without an answer; a server answers in their order. */
  const unanswered: Unanswered[] = [];
  const head = Buffer.alloc(LENGTH_BYTES);
  let head_bytes = 0;
  /** The frame being received, with its length. */
  let frame: Buffer | undefined;
  let frame_bytes = 0;

  const start = (length: number): void => {
    const [request] = unanswered;
    if (request === undefined) throw new ProtocolBroken('answered without a request');
    if (length < FRAME_MIN_BYTES) throw new ProtocolBroken('answered with a frame below 4 bytes');
    const { max_bytes } = request.shape;
    if (length > max_bytes) {
      throw new ProtocolBroken(`answered with a frame above ${max_bytes / 1024} KiB`);
    }
    frame = Buffer.allocUnsafe(LENGTH_BYTES + length);
    head.copy(frame);
    frame_bytes = LENGTH_BYTES;
  };
  const end = (complete: Buffer): Buffer => {
    const request = unanswered.shift();
    if (request?.correlation !== complete.readInt32BE(LENGTH_BYTES)) {
      throw new ProtocolBroken('answered a request that was not sent');
    }
    const answer = complete.subarray(LENGTH_BYTES + FRAME_MIN_BYTES);
    const bytes = checkAnswer(answer, request.shape.fields(request.version));
    if (request.api === SASL_AUTHENTICATE && bytes !== null) checkIterations(bytes);
    frame = undefined;
    head_bytes = 0;
    return complete;
  };

  return {
    onRequest(request) {
      const [api, version] = [request.readInt16BE(API_AT), request.readInt16BE(VERSION_AT)];
      const shape = shapeOf(api, version);
      // Before version 1.0, the messages of an authentication are no requests.
      if (shape === undefined) throw new ProtocolBroken('supports only versions before Kafka 1.0');
      unanswered.push({ shape, api, version, correlation: request.readInt32BE(CORRELATION_AT) });
    },
    isWaiting: () => unanswered.length > 0,
    inspect(bytes) {
      const complete: Buffer[] = [];
      let at = 0;
      while (at < bytes.length) {
        if (frame === undefined) {
          const copied = bytes.copy(head, head_bytes, at);
          head_bytes += copied;
          at += copied;
          if (head_bytes < LENGTH_BYTES) break;
          start(head.readInt32BE(0));
          continue;
        }
        const copied = bytes.copy(frame, frame_bytes, at);
        frame_bytes += copied;
        at += copied;
        if (frame_bytes === frame.length) complete.push(end(frame));
      }
      return complete.length === 1 ? (complete[0] as Buffer) : Buffer.concat(complete);
    },
  };
}

/** Each costs the client time, on a thread that the whole process shares. */
function checkIterations(message: Buffer): void {
  for (const attribute of message.toString('latin1').split(',')) {
    if (!attribute.startsWith('i=')) continue;
    const iterations = Number(ITERATIONS.exec(attribute)?.[1] ?? 0);
    if (iterations < ITERATIONS_MIN) {
      throw new ProtocolBroken('SCRAM with fewer than 4,096 iterations');
    }
    if (iterations > ITERATIONS_MAX) {
      throw new ProtocolBroken('SCRAM with more than 65,536 iterations');
    }
  }
}
