// The shapes of the answers to kafkajs's requests. It trusts the counts and lengths in them: it
// allocates an array of the announced length, and steps back over a string of negative length.
import { ProtocolBroken } from '@bmg/common/outbound';

type Field =
  'int8' | 'int16' | 'int32' | 'int64' | 'string' | 'bytes' | 'error' | 'throttle' | 'late' | List;
interface List {
  max: number;
  of: readonly Field[];
}

/** API keys of the protocol. */
const PRODUCE = 0;
const LIST_OFFSETS = 2;
const METADATA = 3;
const SASL_HANDSHAKE = 17;
const API_VERSIONS = 18;
export const SASL_AUTHENTICATE = 36;

const KIB = 1024;
const SHORT_MAX_BYTES = 16 * KIB;
const LONG_MAX_BYTES = 1024 * KIB;
const APIS_MAX = 1_000;
const MECHANISMS_MAX = 100;
/** kafkajs keeps a connection pool for each. */
const BROKERS_MAX = 1_000;
const REPLICAS_MAX = 1_000;
const PARTITIONS_MAX = 20_000;
/** Every request is about the topic of the destination. */
const TOPICS_MAX = 1;
/** kafkajs holds back its requests for the time that a broker announces, up to 24 days. */
const THROTTLE_MAX_MS = 5_000;
const UNSUPPORTED_VERSION = 35;

const list = (max: number, ...of: Field[]): List => ({ max, of });
const from = (first: number, version: number, ...fields: Field[]): Field[] =>
  version >= first ? fields : [];
const replicas = list(REPLICAS_MAX, 'int32');

export interface AnswerShape {
  max_bytes: number;
  versions: number;
  fields(version: number): Field[];
}

const SHAPES: Readonly<Record<number, AnswerShape>> = {
  [API_VERSIONS]: {
    max_bytes: SHORT_MAX_BYTES,
    versions: 3,
    fields: (version) => [
      'error',
      list(APIS_MAX, 'int16', 'int16', 'int16'),
      ...from(1, version, 'late'),
    ],
  },
  [SASL_HANDSHAKE]: {
    max_bytes: SHORT_MAX_BYTES,
    versions: 2,
    fields: () => ['error', list(MECHANISMS_MAX, 'string')],
  },
  [SASL_AUTHENTICATE]: {
    max_bytes: SHORT_MAX_BYTES,
    versions: 2,
    fields: (version) => ['error', 'string', 'bytes', ...from(1, version, 'int64')],
  },
  [METADATA]: {
    max_bytes: LONG_MAX_BYTES,
    versions: 7,
    fields: (version) => [
      ...from(3, version, 'throttle'),
      list(BROKERS_MAX, 'int32', 'string', 'int32', ...from(1, version, 'string')),
      ...from(2, version, 'string'),
      ...from(1, version, 'int32'),
      list(
        TOPICS_MAX,
        'int16',
        'string',
        ...from(1, version, 'int8'),
        list(
          PARTITIONS_MAX,
          ...(['int16', 'int32', 'int32', replicas, replicas] as const),
          ...from(5, version, replicas),
        ),
      ),
    ],
  },
  [PRODUCE]: {
    max_bytes: LONG_MAX_BYTES,
    versions: 8,
    fields: (version) => [
      list(
        TOPICS_MAX,
        'string',
        list(
          PARTITIONS_MAX,
          ...(['int32', 'int16', 'int64'] as const),
          ...from(2, version, 'int64'),
          ...from(5, version, 'int64'),
        ),
      ),
      ...from(1, version, 'throttle'),
    ],
  },
  [LIST_OFFSETS]: {
    max_bytes: LONG_MAX_BYTES,
    versions: 4,
    fields: (version) => [
      ...from(2, version, 'throttle'),
      list(
        TOPICS_MAX,
        'string',
        list(
          PARTITIONS_MAX,
          'int32',
          'int16',
          ...(version === 0 ? [list(TOPICS_MAX, 'int64')] : (['int64', 'int64'] as const)),
        ),
      ),
    ],
  },
};

/** Undefined for a request that this client does not send. */
export function shapeOf(api: number, version: number): AnswerShape | undefined {
  const shape = SHAPES[api];
  return shape !== undefined && version >= 0 && version < shape.versions ? shape : undefined;
}

const SIZES = { int8: 1, int16: 2, int32: 4, int64: 8 } as const;
const BAD_LENGTH = 'answered with a count or length outside its frame';
const SHORT = 'answered with too few bytes';
const LONG = 'answered with more bytes than the answer needs';

/**
 * Checks an answer against its shape and lowers the throttle time in it. Returns the value of its
 * field of bytes. Throws ProtocolBroken.
 */
export function checkAnswer(answer: Buffer, fields: readonly Field[]): Buffer | null {
  let at = 0;
  let bytes: Buffer | null = null;
  const skip = (length: number, problem = SHORT): number => {
    const start = at;
    if (length < 0 || length > answer.length - at) throw new ProtocolBroken(problem);
    at += length;
    return start;
  };
  /** Null has the length -1. */
  const lengthOf = (length: number): number => (length === -1 ? 0 : length);
  /** Returns false if the rest of the answer is not read. */
  const walk = (shape: readonly Field[]): boolean => {
    for (const field of shape) {
      if (typeof field === 'object') {
        const count = lengthOf(answer.readInt32BE(skip(SIZES.int32)));
        if (count < 0) throw new ProtocolBroken(BAD_LENGTH);
        if (count > field.max) throw new ProtocolBroken('answered with a list that is too long');
        for (let n = 0; n < count; n += 1) walk(field.of);
      } else if (field === 'string') {
        skip(lengthOf(answer.readInt16BE(skip(SIZES.int16))), BAD_LENGTH);
      } else if (field === 'bytes') {
        const start = skip(lengthOf(answer.readInt32BE(skip(SIZES.int32))), BAD_LENGTH);
        bytes = answer.subarray(start, at);
      } else if (field === 'error') {
        if (answer.readInt16BE(skip(SIZES.int16)) === UNSUPPORTED_VERSION) return false;
      } else if (field === 'throttle' || (field === 'late' && at < answer.length)) {
        const start = skip(SIZES.int32);
        const time = answer.readInt32BE(start);
        answer.writeInt32BE(Math.min(Math.max(time, 0), THROTTLE_MAX_MS), start);
      } else if (field !== 'late') skip(SIZES[field]);
    }
    return true;
  };
  if (walk(fields) && at < answer.length) throw new ProtocolBroken(LONG);
  return bytes;
}
