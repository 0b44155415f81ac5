// Checks a Kafka server's answers before kafkajs reads them: only answers to requests, in their
// order, with the shape that the request's version has.
import { ProtocolBroken } from '@bmg/common/outbound';
import { createFrames } from '../frames';
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

export type KafkaGuard = ReturnType<typeof createKafkaGuard>;

interface Unanswered {
  shape: AnswerShape;
  api: number;
  version: number;
  correlation: number;
}

/** The state of one connection. */
export function createKafkaGuard() {
  /** Requests without an answer; a server answers in their order. */
  const unanswered: Unanswered[] = [];

  const sizeOf = (head: Buffer): number => {
    const [request] = unanswered;
    const length = head.readInt32BE(0);
    if (request === undefined) throw new ProtocolBroken('answered without a request');
    if (length < FRAME_MIN_BYTES) throw new ProtocolBroken('answered with a frame below 4 bytes');
    const { max_bytes } = request.shape;
    if (length > max_bytes) {
      throw new ProtocolBroken(`answered with a frame above ${max_bytes / 1024} KiB`);
    }
    return LENGTH_BYTES + length;
  };
  const check = (frame: Buffer): void => {
    const request = unanswered.shift();
    if (request?.correlation !== frame.readInt32BE(LENGTH_BYTES)) {
      throw new ProtocolBroken('answered a request that was not sent');
    }
    const answer = frame.subarray(LENGTH_BYTES + FRAME_MIN_BYTES);
    const bytes = checkAnswer(answer, request.shape.fields(request.version));
    if (request.api === SASL_AUTHENTICATE && bytes !== null) checkIterations(bytes);
  };

  return {
    /** Remembers a request that is about to be written. Throws ProtocolBroken. */
    onRequest(request: Buffer): void {
      const [api, version] = [request.readInt16BE(API_AT), request.readInt16BE(VERSION_AT)];
      const shape = shapeOf(api, version);
      // Before version 1.0, the messages of an authentication are no requests.
      if (shape === undefined) throw new ProtocolBroken('supports only versions before Kafka 1.0');
      unanswered.push({ shape, api, version, correlation: request.readInt32BE(CORRELATION_AT) });
    },
    /** True if a request has no answer yet. */
    isWaiting: (): boolean => unanswered.length > 0,
    inspect: createFrames({ head_bytes: LENGTH_BYTES, sizeOf, check }),
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
