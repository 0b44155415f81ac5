// Reads a request's body as a JSON object, within limits on its size, nesting, number of values,
// memory and time.
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { ApiError, invalidField } from '@bmg/common/errors';
import { inTurn } from '@bmg/common/lifecycle';
import { BodyRefused, readBody as readBytes, watchMinimumRate } from '@bmg/common/overload';
import type { Fields } from '../endpoints/endpoint';
import { BODY_NODES_MAX } from '../endpoints/parts/body-limits';
import type { BodyMemory } from '../limits/load';
import { overloaded } from '../limits/rate-limited';
import { JsonScan, parseSliced, SLICE_BYTES } from './large-body';

/** Characters of a content type that an error repeats. */
const TYPE_SHOWN_MAX = 100;
/** Opaque parts become a protobuf Struct, whose decoder accepts about thirty levels. */
const DEPTH_MAX = 30;
/**
 * The memory of a body until its request is answered, measured over hostile bodies
 * (body-memory.test.ts): its bytes as received, joined and encoded again, and objects for its
 * values.
 */
export const MEMORY_OF_BYTE = 3;
const MEMORY_OF_NODE = 100;
/** The rest of a larger body is read in turns with others: a chunk for each turn. */
const READ_AT_ONCE_BYTES = 1024 * 1024;
const RATE_INTERVAL_MS = 5_000;

const invalid = (message: string): ApiError => new ApiError('INVALID_PAYLOAD', message);

export interface BodyLimits {
  limit_bytes: number;
  nodes_max?: number | undefined;
  /** For a body with too many values: throws the endpoint's own error for a long list. */
  checkItems?: ((items: number) => void) | undefined;
  /** The whole body must arrive within this time; without it, only at the minimum rate. */
  within_ms?: number;
  memory?: BodyMemory | undefined;
  /** Lower limits for the bodies that it returns them for. */
  lower?: ((body: Fields) => Pick<BodyLimits, 'limit_bytes' | 'nodes_max'> | undefined) | undefined;
}

/** An absent body is `{}`. */
export async function readBody(request: IncomingMessage, limits: BodyLimits): Promise<Fields> {
  const { limit_bytes, nodes_max = BODY_NODES_MAX, memory } = limits;
  const scan = new JsonScan(SLICE_BYTES);
  const isTooComplex = (): boolean => scan.deepest > DEPTH_MAX || scan.nodes > nodes_max;
  let received = 0;
  const accept = (size: number, chunk: Buffer): boolean | Promise<boolean> => {
    received += size;
    return received <= READ_AT_ONCE_BYTES ? take(size, chunk) : inTurn(() => take(size, chunk));
  };
  const take = (size: number, chunk: Buffer): boolean => {
    const { nodes } = scan;
    scan.push(chunk);
    const bytes = size * MEMORY_OF_BYTE + (scan.nodes - nodes) * MEMORY_OF_NODE;
    return !isTooComplex() && (memory?.reserve(bytes) ?? true);
  };
  const reading = readBytes(request, limit_bytes, accept).catch((error: unknown) => {
    if (!(error instanceof BodyRefused)) throw error;
    if (scan.deepest > DEPTH_MAX)
      throw invalid(`the body is nested deeper than ${DEPTH_MAX} levels`);
    if (scan.nodes > nodes_max) limits.checkItems?.(scan.items);
    if (scan.nodes > nodes_max) throw tooManyValues(nodes_max);
    throw refused(error, limit_bytes);
  });
  const bytes = await inTime(reading, () => received, limits.within_ms);
  if (bytes.length === 0) return {};
  checkContentType(request);
  if (!isUtf8(bytes)) throw invalid('the body is not valid UTF-8');
  const value = await parseSliced(bytes, scan.long_arrays);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid('the body must be a JSON object');
  }
  refuseHalfPairs(bytes, value as Fields);
  const own = limits.lower?.(value as Fields);
  if (own && bytes.length > own.limit_bytes) throw tooLarge(own.limit_bytes);
  if (own && scan.nodes > (own.nodes_max ?? BODY_NODES_MAX)) throw tooManyValues(own.nodes_max);
  return value as Fields;
}

const tooManyValues = (nodes_max = BODY_NODES_MAX): ApiError =>
  invalid(`the body has more than ${nodes_max} values`);

const tooLarge = (limit_bytes: number): ApiError =>
  new ApiError('INVALID_PAYLOAD', `the body is larger than ${limit_bytes} bytes`, {
    details: { limit_bytes },
  });

/** Rejects once the body is late. The answer closes the connection: the rest is unread. */
async function inTime(
  reading: Promise<Buffer>,
  received: () => number,
  within_ms: number | undefined,
): Promise<Buffer> {
  let stopWatching = (): void => undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const fail = (): void => reject(invalid('the body did not arrive in time: send it again'));
    if (within_ms === undefined) stopWatching = watchMinimumRate(RATE_INTERVAL_MS, received, fail);
    else {
      const timer = setTimeout(fail, within_ms);
      stopWatching = () => clearTimeout(timer);
    }
  });
  try {
    return await Promise.race([reading, late]);
  } finally {
    stopWatching();
  }
}

function refused({ problem, cause }: BodyRefused, limit_bytes: number): ApiError {
  switch (problem) {
    case 'too_large':
      return tooLarge(limit_bytes);
    case 'no_room':
      return overloaded();
    case 'incomplete':
      return new ApiError(
        'INVALID_PAYLOAD',
        'the body was not received completely: send it again',
        { cause },
      );
  }
}

function checkContentType({ headers }: IncomingMessage): void {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  const json = type === undefined || type === 'application/json' || type.endsWith('+json');
  if (!json) {
    throw new ApiError(
      'UNSUPPORTED_CONTENT_TYPE',
      `send the body as application/json, not as ${type.slice(0, TYPE_SHOWN_MAX)}`,
    );
  }
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    throw new ApiError(
      'UNSUPPORTED_CONTENT_TYPE',
      'send the body uncompressed: the header content-encoding is not supported',
    );
  }
}

/**
 * Half a surrogate pair is no character: encoded on the way it would become another one. Bytes that
 * are UTF-8 can have one only as an escape. Whole pairs do not match.
 */
const HALF_PAIR = /\p{Surrogate}/u;
const ESCAPES = ['\\ud', '\\uD'];

/** Throws INVALID_FIELD for the first text, or key, with half a surrogate pair. */
function refuseHalfPairs(bytes: Buffer, body: Fields): void {
  if (!ESCAPES.some((escape) => bytes.includes(escape))) return;
  const field = findHalfPair(body, '');
  if (field === undefined) return;
  throw invalidField(field, 'has half of a surrogate pair, which is no character');
}

/** The path of the value; the reader has bounded its depth and its values. */
function findHalfPair(value: unknown, path: string): string | undefined {
  if (typeof value === 'string') return HALF_PAIR.test(value) ? path : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    if (HALF_PAIR.test(key)) return path === '' ? 'body' : path;
    const name = Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    const found = findHalfPair(member, name);
    if (found !== undefined) return found;
  }
  return undefined;
}
