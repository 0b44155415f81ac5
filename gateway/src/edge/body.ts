// Reads a request's body as a JSON object, within limits on its size, nesting, number of values, memory
// and time.
import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { parse as secureParse } from 'secure-json-parse';
import { ApiError } from '@bmg/common/errors';
import { BodyRefused, readBody as readBytes, watchPace } from '@bmg/common/overload';
import type { Fields } from '../endpoints/endpoint';
import type { BodyMemory } from '../limits/load';
import { overloaded } from '../limits/overloaded';
import { JsonScan, type LongArray } from './json-scan';
import { inTurns } from '@bmg/common/lifecycle';

/** Characters of a content type that an error repeats. */
const TYPE_SHOWN_MAX = 100;
/** Opaque parts become a protobuf Struct, whose decoder accepts about thirty levels. */
const DEPTH_MAX = 30;
/** Values in a body, at any depth. Parsing and validating more would hold up other requests. */
const NODES_MAX = 10_000;
/** Parsed in one turn; a larger body is parsed slice by slice. */
const SLICE_BYTES = 64 * 1024;
const SLICE_BYTES_MAX = 1024 * 1024;
/**
 * What a body takes until its request is answered, measured over hostile bodies (body-memory.test.ts): its
 * bytes as received, joined and encoded again, and objects for its values.
 */
export const MEMORY_OF_BYTE = 3;
export const MEMORY_OF_NODE = 100;
const PACE_EVERY_MS = 5_000;

const invalid = (message: string): ApiError => new ApiError('INVALID_PAYLOAD', message);

export interface BodyLimits {
  limit_bytes: number;
  nodes_max?: number | undefined;
  /** For a body with too many values: throws the endpoint's specific error if its list is too long. */
  checkItems?: ((items: number) => void) | undefined;
  /** The whole body must arrive within this time; without it, only at the minimum rate. */
  within_ms?: number;
  memory?: BodyMemory | undefined;
  /** Lower limits for the bodies that it returns them for. */
  lower?: ((body: Fields) => Pick<BodyLimits, 'limit_bytes' | 'nodes_max'> | undefined) | undefined;
}

/** An absent body is `{}`. */
export async function readBody(request: IncomingMessage, limits: BodyLimits): Promise<Fields> {
  const { limit_bytes, nodes_max = NODES_MAX, memory } = limits;
  const scan = new JsonScan(SLICE_BYTES);
  const isTooComplex = (): boolean => scan.deepest > DEPTH_MAX || scan.nodes > nodes_max;
  let received = 0;
  const accept = (size: number, chunk: Buffer): boolean => {
    const { nodes } = scan;
    received += size;
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
  const value = await parse(bytes, scan.long_arrays);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid('the body must be a JSON object');
  }
  const own = limits.lower?.(value as Fields);
  if (own && bytes.length > own.limit_bytes) throw tooLarge(own.limit_bytes);
  if (own && scan.nodes > (own.nodes_max ?? NODES_MAX)) throw tooManyValues(own.nodes_max);
  return value as Fields;
}

const tooManyValues = (nodes_max = NODES_MAX): ApiError =>
  invalid(`the body has more than ${nodes_max} values`);

const tooLarge = (limit_bytes: number): ApiError =>
  new ApiError('INVALID_PAYLOAD', `the body is larger than ${limit_bytes} bytes`, {
    details: { limit_bytes },
  });

/** Rejects once the body is late. Its connection is closed with the answer, as its rest is unread. */
async function inTime(
  reading: Promise<Buffer>,
  received: () => number,
  within_ms: number | undefined,
): Promise<Buffer> {
  let stopWatching = (): void => undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const fail = (): void => reject(invalid('the body did not arrive in time: send it again'));
    if (within_ms === undefined) stopWatching = watchPace(PACE_EVERY_MS, received, fail);
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

/** Long arrays of the top object are parsed in turns with other requests. */
async function parse(bytes: Buffer, arrays: LongArray[]): Promise<unknown> {
  if (bytes.length <= SLICE_BYTES_MAX) return parseText(bytes.toString());
  // The text without the long arrays' items, each array marked by its number and an unguessable word.
  const mark = randomUUID();
  const rest: Buffer[] = [];
  const items: unknown[][] = [];
  let from = 0;
  for (const [number, array] of arrays.entries()) {
    rest.push(bytes.subarray(from, array.from), Buffer.from(`["${mark}",${number}`));
    from = array.to;
    items.push(await parseItems(bytes, array));
  }
  const text = Buffer.concat([...rest, bytes.subarray(from)]);
  const value = parseText(slice(text, 0, text.length));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]: [string, unknown]) => [
      key,
      Array.isArray(member) && member[0] === mark ? items[member[1] as number] : member,
    ]),
  );
}

async function parseItems(bytes: Buffer, { from, to, cuts }: LongArray): Promise<unknown[]> {
  const items: unknown[] = [];
  let start = from + 1;
  await inTurns([...cuts, to], (end) => {
    const some = parseText(`[${slice(bytes, start, end)}]`) as unknown[];
    if (some.length === 0) throw notJson();
    for (const item of some) items.push(item);
    start = end + 1;
  });
  return items;
}

/** A part that cannot be cut is bounded: it is parsed in one turn. */
function slice(bytes: Buffer, from: number, to: number): string {
  if (to - from <= SLICE_BYTES_MAX) return bytes.toString('utf8', from, to);
  throw invalid(`the body has a part larger than ${SLICE_BYTES_MAX} bytes`);
}

function parseText(text: string): unknown {
  try {
    return secureParse(text, undefined, { protoAction: 'error', constructorAction: 'error' });
  } catch (error) {
    const forbidden = /__proto__|constructor/.test(text) && isJson(text);
    if (!forbidden) throw notJson(error);
    throw new ApiError(
      'INVALID_PAYLOAD',
      'the keys __proto__ and constructor are not allowed in the body',
      { cause: error },
    );
  }
}

const notJson = (cause?: unknown): ApiError =>
  new ApiError('INVALID_PAYLOAD', 'the body is not valid JSON', { cause });

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
