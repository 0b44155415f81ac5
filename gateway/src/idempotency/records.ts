// The records of Idempotency-Keys, shared by all replicas: one per partner and key, in Redis,
// expired after a day. Every change is one script, so that of many equal requests exactly one
// begins.
import { createHash } from 'node:crypto';
import { RETENTION_MS, type Outcome } from '@bmg/common/idempotency';
import { newId } from '@bmg/common/ids';
import { pause } from '@bmg/common/lifecycle';
import type { RedisConnection } from '@bmg/common/redis';
import type { Logger } from '@bmg/common/telemetry';
import type { Redis } from 'ioredis';

/** Backoff of storing an outcome. After it the lease ends, and the outcome is unknown. */
const BACKOFF_MS = [250, 500, 1_000, 2_000, 4_000];

/**
 * How long a beginning waits for a Redis that is connected but late. Other commands have a fallback
 * after a quarter of a second; a request with a key has none, and would be refused whenever a
 * process has a busy second.
 */
const BEGIN_LIMIT_MS = 2_000;
const BEGIN_AGAIN_MS = 100;

/** Some 11 sends a second all day, each with a key. */
export const RECORDS_MAX = 1_000_000;
const HOUR_MS = 3_600_000;
/** An answer counts as one record for each part of this size. */
const RECORD_BYTES = 1_024;

/** The right to do the work of a key: one run of it. */
export interface Ticket {
  partner_id: string;
  key: string;
  fingerprint: string;
  /** Identifies this run: only the latest run may store the outcome. */
  run_id: string;
  /** Sent to the services with the work; every run of the same work has the same one. */
  request_id: string;
}

export interface StoredAnswer {
  status: number;
  /** JSON text. */
  body: string;
}

export type BeginResult =
  | { state: 'begun' | 'unknown'; ticket: Ticket }
  | { state: 'done'; answer: StoredAnswer }
  | { state: 'running' | 'reused' | 'full' };

export interface BeginRequest {
  partner_id: string;
  key: string;
  fingerprint: string;
  /** How long the work may run before its worker counts as dead. */
  lease_ms: number;
  /** True to begin another run if a worker died; otherwise the state is `unknown`. */
  repeatable: boolean;
}

// Fields of a record: f fingerprint, r request id, a run id, l end of the lease, h hour of the
// beginning; of a final one: f, s status, b body. The second key counts the partner's records by
// hour. The time is Redis's: the clocks of the replicas may differ.
const BEGIN = `
local known = redis.call('HMGET', KEYS[1], 'f', 'r', 'a', 'l', 's', 'b')
local fingerprint, run_id, lease_ms, repeatable, retention_ms, records_max, hour_ms = unpack(ARGV)
if known[1] and known[1] ~= fingerprint then return {'reused'} end
if known[5] then return {'done', known[5], known[6]} end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if known[1] then
  -- The answer to an earlier attempt of this very run was late.
  if known[3] == run_id then return {'begun', known[2], run_id} end
  if now < tonumber(known[4]) then return {'running'} end
  if repeatable ~= '1' then return {'unknown', known[2], known[3]} end
end
local hour = math.floor(now / hour_ms)
if not known[1] then
  local counts = redis.call('HGETALL', KEYS[2])
  local records = 0
  for at = 1, #counts, 2 do
    if tonumber(counts[at]) <= hour - retention_ms / hour_ms then
      redis.call('HDEL', KEYS[2], counts[at])
    else
      records = records + tonumber(counts[at + 1])
    end
  end
  if records >= tonumber(records_max) then return {'full'} end
  redis.call('HINCRBY', KEYS[2], hour, 1)
  redis.call('PEXPIRE', KEYS[2], retention_ms + hour_ms)
  redis.call('HSET', KEYS[1], 'h', hour)
end
local lease = string.format('%.0f', now + lease_ms)
local request_id = known[2] or run_id
redis.call('HSET', KEYS[1], 'f', fingerprint, 'r', request_id, 'a', run_id, 'l', lease)
if not known[1] then redis.call('PEXPIRE', KEYS[1], retention_ms) end
return {'begun', request_id, run_id}
`;

// A record that Redis lost in between is written again. When a later run is refused, an earlier run
// may still have done the work, so that the outcome stays unknown.
const COMPLETE = `
local known = redis.call('HMGET', KEYS[1], 'a', 's', 'f', 'r', 'h')
local run_id, request_id, fingerprint, outcome, retention_ms, status, body, record_bytes = unpack(ARGV)
if known[2] or (known[3] and known[1] ~= run_id) then return 0 end
if known[4] then request_id = known[4] end
if outcome == 'not_done' and request_id == run_id then
  if known[5] then redis.call('HINCRBY', KEYS[2], known[5], -1) end
  return redis.call('DEL', KEYS[1])
end
if outcome == 'final' then
  redis.call('HSET', KEYS[1], 'f', fingerprint, 's', status, 'b', body)
  redis.call('HDEL', KEYS[1], 'r', 'a', 'l', 'h')
  local parts = math.floor(#body / record_bytes)
  if known[5] and parts > 0 then redis.call('HINCRBY', KEYS[2], known[5], parts) end
else
  redis.call('HSET', KEYS[1], 'f', fingerprint, 'r', request_id, 'a', run_id, 'l', '0')
end
if not known[3] then redis.call('PEXPIRE', KEYS[1], retention_ms) end
return 1
`;

/** The keys of the record and of the counts, then the arguments. */
type Script<T> = (...values: Array<string | number>) => Promise<T>;
interface WithRecords extends Redis {
  bmgIdempotencyBegin: Script<string[]>;
  bmgIdempotencyComplete: Script<number>;
}

/** The scripts, with their keys and arguments in order. */
function defineScripts(redis: Redis, records_max: number) {
  redis.defineCommand('bmgIdempotencyBegin', { numberOfKeys: 2, lua: BEGIN });
  redis.defineCommand('bmgIdempotencyComplete', { numberOfKeys: 2, lua: COMPLETE });
  const scripts = redis as WithRecords;
  return {
    begin: (request: BeginRequest, run_id: string): Promise<string[]> =>
      scripts.bmgIdempotencyBegin(
        recordKey(request),
        countsKey(request),
        request.fingerprint,
        run_id,
        Math.ceil(request.lease_ms),
        request.repeatable ? 1 : 0,
        RETENTION_MS,
        records_max,
        HOUR_MS,
      ),
    complete: (ticket: Ticket, outcome: Outcome, answer?: StoredAnswer): Promise<number> =>
      scripts.bmgIdempotencyComplete(
        recordKey(ticket),
        countsKey(ticket),
        ticket.run_id,
        ticket.request_id,
        ticket.fingerprint,
        outcome,
        RETENTION_MS,
        answer?.status ?? '',
        answer?.body ?? '',
        RECORD_BYTES,
      ),
  };
}

/** `records_max` bounds the records of one partner: all partners share the memory of Redis. */
export function createRecords(connection: RedisConnection, log: Logger, records_max = RECORDS_MAX) {
  const { redis } = connection;
  const scripts = defineScripts(redis, records_max);

  const askToBegin = async (request: BeginRequest, run_id: string): Promise<string[]> => {
    const until = performance.now() + BEGIN_LIMIT_MS;
    for (;;) {
      try {
        return await scripts.begin(request, run_id);
      } catch (error) {
        if (!connection.up() || performance.now() >= until) throw error;
      }
      await pause(BEGIN_AGAIN_MS);
    }
  };

  const completeLater: typeof scripts.complete = async (ticket, outcome, answer) => {
    for (const wait_ms of BACKOFF_MS) {
      await pause(wait_ms);
      try {
        return await scripts.complete(ticket, outcome, answer);
      } catch (error) {
        if (redis.status === 'end') throw error;
      }
    }
    return scripts.complete(ticket, outcome, answer);
  };

  /** Stores the outcome of a run. Resolves once stored, or once retries go on in the background. */
  const complete = async (
    ticket: Ticket,
    outcome: Outcome,
    answer?: StoredAnswer,
  ): Promise<void> => {
    try {
      await scripts.complete(ticket, outcome, answer);
    } catch {
      // The answer is right whether or not it is stored: the partner does not wait for the retries.
      const { request_id } = ticket;
      completeLater(ticket, outcome, answer).catch((error: unknown) =>
        log.warn({ err: error, request_id, outcome }, 'failed to store the outcome of a key'),
      );
    }
  };

  return {
    /** Rejects while Redis is down, or after two seconds without it; then nothing has begun. */
    async begin(request: BeginRequest): Promise<BeginResult> {
      if (!connection.up()) throw new Error('Redis is down');
      const run_id = newId('req');
      try {
        return readReply(await askToBegin(request, run_id), request);
      } catch (error) {
        // Redis may have run the script. No work follows, so that its record must not stay behind.
        void complete({ ...request, run_id, request_id: run_id }, 'not_done');
        throw error;
      }
    },
    complete,
  };
}

function readReply(
  [state, first, second]: string[],
  { partner_id, key, fingerprint }: Omit<BeginRequest, 'lease_ms' | 'repeatable'>,
): BeginResult {
  if (state === 'done') {
    return { state, answer: { status: Number(first), body: second as string } };
  }
  if (state === 'begun' || state === 'unknown') {
    const ids = { request_id: first as string, run_id: second as string };
    return { state, ticket: { partner_id, key, fingerprint, ...ids } };
  }
  return { state: state as 'running' | 'reused' | 'full' };
}

const countsKey = ({ partner_id }: { partner_id: string }): string =>
  `bmg:{${partner_id}}:idempotency-counts`;

/** The partner's key is hashed: it may be long, and may contain personal data. */
export const recordKey = ({ partner_id, key }: { partner_id: string; key: string }): string =>
  `bmg:{${partner_id}}:idempotency:${createHash('sha256').update(key).digest('base64url')}`;
