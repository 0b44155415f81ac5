// The last calls of each partner, for the console: in Redis, for a day. To record a call is a push
// in memory; the calls of all partners are written together, and dropped while Redis is down. No
// query, header or body is kept but the names of ignored keys, and of the path only its template.
import { ApiError } from '@bmg/common/errors';
import type { Component } from '@bmg/common/lifecycle';
import type { RedisConnection } from '@bmg/common/redis';
import type { Logger } from '@bmg/common/telemetry';

export interface LoggedRequest {
  /** When the call was answered, in epoch milliseconds. */
  at: number;
  method: string;
  /** The template, such as `/broadcasts/{id}`. */
  path: string;
  status: number;
  code: string | null;
  duration_ms: number;
  request_id: string;
  /** The keys of its query and body that were ignored, as in the answer's header. */
  ignored: string | null;
  /** The upstream's code, if the upstream refused the call. */
  upstream_code: number | null;
}

export interface RequestLog extends Component {
  record(partner_id: string, request: LoggedRequest): void;
  /** Newest first. */
  read(partner_id: string): Promise<LoggedRequest[]>;
}

/** Calls kept for each partner. */
export const REQUESTS_MAX = 200;
const KEPT_S = 24 * 3_600;
/** Calls are written together; without calls no timer runs. */
const WRITE_AFTER_MS = 250;
/** Partners in one write; calls of further partners are dropped. */
const PARTNERS_MAX = 5_000;

const keyOf = (partner_id: string): string => `bmg:{${partner_id}}:requests`;

export function createRequestLog({ redis, up }: RedisConnection, log: Logger): RequestLog {
  let waiting = new Map<string, LoggedRequest[]>();
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();
  const write = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.size === 0) return;
    const taken = waiting;
    waiting = new Map();
    if (!up()) return;
    const commands = redis.pipeline();
    for (const [partner_id, requests] of taken) {
      const key = keyOf(partner_id);
      commands.lpush(key, ...requests.map(pack)).ltrim(key, 0, REQUESTS_MAX - 1);
      commands.expire(key, KEPT_S);
    }
    await commands.exec();
  };
  const flush = (): Promise<void> =>
    (writing = writing.then(write).catch((error: unknown) => {
      log.error({ err: error }, 'failed to write the request log');
    }));
  return {
    name: 'request-log',
    async start() {},
    stop: flush,
    record(partner_id, request) {
      timer ??= setTimeout(() => void flush(), WRITE_AFTER_MS);
      const requests = waiting.get(partner_id);
      if (requests) {
        if (requests.length === REQUESTS_MAX) requests.shift();
        requests.push(request);
      } else if (waiting.size < PARTNERS_MAX) waiting.set(partner_id, [request]);
    },
    async read(partner_id) {
      const packed = await redis.lrange(keyOf(partner_id), 0, -1).catch((cause: unknown) => {
        throw new ApiError('SERVICE_UNAVAILABLE', 'the request log cannot be read: try again', {
          cause,
        });
      });
      // Each replica adds its own calls in order.
      return packed.map(unpack).sort((one, other) => other.at - one.at);
    },
  };
}

type Packed = [
  ...[at: number, method: string, path: string, status: number, code: string | null],
  ...[duration_ms: number, request_id: string],
  // Absent in calls that the previous release recorded.
  ...[ignored?: string | null, upstream_code?: number | null],
];

const pack = (request: LoggedRequest): string => {
  const { at, method, path, status, code, duration_ms, request_id, ignored, upstream_code } =
    request;
  return JSON.stringify([
    ...[at, method, path, status, code, duration_ms, request_id],
    ...[ignored, upstream_code],
  ]);
};

function unpack(packed: string): LoggedRequest {
  const [at, method, path, status, code, duration_ms, request_id, ignored, upstream_code] =
    JSON.parse(packed) as Packed;
  return {
    ...{ at, method, path, status, code, duration_ms, request_id },
    ignored: ignored ?? null,
    upstream_code: upstream_code ?? null,
  };
}
