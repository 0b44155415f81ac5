// The records that all gateway replicas share: one a partner and key, in Redis, gone after a day. Each
// change is one script, so that of many equal requests exactly one begins.
import { createHash } from 'node:crypto';
import { newId } from '@bmg/common/ids';
import { pause } from '@bmg/common/lifecycle';
import type { RedisConnection } from '@bmg/common/redis';
import type { Logger } from '@bmg/common/telemetry';
import type { Redis } from 'ioredis';
import type { Verdict } from './outcome';

/** Decisions, Repeating a request safely: kept 24 hours. */
export const KEPT_MS = 24 * 3_600_000;
/** Waits between the tries to write an outcome down; past them the lease ends and it counts as unknown. */
const RETRY_AFTER_MS = [250, 500, 1_000, 2_000, 4_000];

/** One attempt at the work of a key. */
export interface Ticket {
  partner_id: string;
  key: string;
  fingerprint: string;
  /** Names this attempt: only the latest one may say how the work ended. */
  attempt: string;
  /** Under which the work is done; further attempts at the same work keep it. */
  request_id: string;
}

export interface KeptAnswer {
  status: number;
  /** JSON text. */
  body: string;
}

export type Begun =
  | { state: 'begun' | 'unknown'; ticket: Ticket }
  | { state: 'done'; answer: KeptAnswer }
  | { state: 'running' | 'reused' };

export interface Asked {
  partner_id: string;
  key: string;
  fingerprint: string;
  /** For how long the work may run before its worker counts as dead. */
  lease_ms: number;
  /** Whether to begin once more where a worker died; otherwise that is told as `unknown`. */
  again: boolean;
}

export interface Records {
  /** Rejects while Redis is away: then nothing has begun. */
  begin(asked: Asked): Promise<Begun>;
  /** Resolves once written, or once it is left to the background; never rejects. */
  settle(ticket: Ticket, verdict: Verdict, answer?: KeptAnswer): Promise<void>;
}

// Fields: f fingerprint, r request id, a attempt, l end of the lease; of a finished one f, s status, b body.
// Time is the server's own, so that replicas with other clocks agree.
const BEGIN = `
local known = redis.call('HMGET', KEYS[1], 'f', 'r', 'a', 'l', 's', 'b')
local fingerprint, attempt, lease_ms, again, kept_ms = unpack(ARGV)
if known[1] and known[1] ~= fingerprint then return {'reused'} end
if known[5] then return {'done', known[5], known[6]} end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if known[1] then
  if now < tonumber(known[4]) then return {'running'} end
  if again ~= '1' then return {'unknown', known[2], known[3]} end
end
local lease = string.format('%.0f', now + lease_ms)
local request_id = known[2] or attempt
redis.call('HSET', KEYS[1], 'f', fingerprint, 'r', request_id, 'a', attempt, 'l', lease)
if not known[1] then redis.call('PEXPIRE', KEYS[1], kept_ms) end
return {'begun', request_id, attempt}
`;

// A record that Redis has lost meanwhile is made anew. An attempt at work that an earlier one may have
// done says nothing of that one by being refused: then the outcome stays unknown.
const SETTLE = `
local known = redis.call('HMGET', KEYS[1], 'a', 's', 'f', 'r')
local attempt, request_id, fingerprint, verdict, kept_ms, status, body = unpack(ARGV)
if known[2] or (known[3] and known[1] ~= attempt) then return 0 end
if known[4] then request_id = known[4] end
if verdict == 'forget' and request_id == attempt then return redis.call('DEL', KEYS[1]) end
if verdict == 'keep' then
  redis.call('HSET', KEYS[1], 'f', fingerprint, 's', status, 'b', body)
  redis.call('HDEL', KEYS[1], 'r', 'a', 'l')
else
  redis.call('HSET', KEYS[1], 'f', fingerprint, 'r', request_id, 'a', attempt, 'l', '0')
end
if not known[3] then redis.call('PEXPIRE', KEYS[1], kept_ms) end
return 1
`;

interface WithRecords extends Redis {
  bmgIdempotencyBegin(key: string, ...values: Array<string | number>): Promise<string[]>;
  bmgIdempotencySettle(key: string, ...values: Array<string | number>): Promise<number>;
}

export function createRecords(connection: RedisConnection, log: Logger): Records {
  const { redis } = connection;
  redis.defineCommand('bmgIdempotencyBegin', { numberOfKeys: 1, lua: BEGIN });
  redis.defineCommand('bmgIdempotencySettle', { numberOfKeys: 1, lua: SETTLE });
  const scripts = redis as WithRecords;

  const write = (ticket: Ticket, verdict: Verdict, answer: KeptAnswer | undefined) =>
    scripts.bmgIdempotencySettle(
      recordKey(ticket),
      ticket.attempt,
      ticket.request_id,
      ticket.fingerprint,
      verdict,
      KEPT_MS,
      answer?.status ?? '',
      answer?.body ?? '',
    );

  const writeLater: typeof write = async (ticket, verdict, answer) => {
    for (const wait_ms of RETRY_AFTER_MS) {
      await pause(wait_ms);
      try {
        return await write(ticket, verdict, answer);
      } catch (error) {
        if (redis.status === 'end') throw error;
      }
    }
    return write(ticket, verdict, answer);
  };

  const settle: Records['settle'] = async (ticket, verdict, answer) => {
    try {
      await write(ticket, verdict, answer);
    } catch {
      // The partner's answer does not wait any longer: it is right in any case.
      const { request_id } = ticket;
      writeLater(ticket, verdict, answer).catch((error: unknown) =>
        log.warn({ err: error, request_id, verdict }, 'an outcome was not kept under its key'),
      );
    }
  };

  return {
    async begin(asked) {
      if (!connection.up()) throw new Error('Redis is away');
      const attempt = newId('req');
      const { lease_ms, again, ...named } = asked;
      try {
        const reply = await scripts.bmgIdempotencyBegin(
          recordKey(asked),
          asked.fingerprint,
          attempt,
          Math.ceil(lease_ms),
          again ? 1 : 0,
          KEPT_MS,
        );
        return readReply(reply, named);
      } catch (error) {
        // It may have been begun all the same, with nobody at work: that must not look like an unknown end.
        void settle({ ...named, attempt, request_id: attempt }, 'forget');
        throw error;
      }
    },
    settle,
  };
}

function readReply([state, one, other]: string[], named: Omit<Asked, 'lease_ms' | 'again'>): Begun {
  if (state === 'done') return { state, answer: { status: Number(one), body: other as string } };
  if (state === 'begun' || state === 'unknown') {
    const { partner_id, key, fingerprint } = named;
    const ids = { request_id: one as string, attempt: other as string };
    return { state, ticket: { partner_id, key, fingerprint, ...ids } };
  }
  return { state: state === 'running' ? 'running' : 'reused' };
}

/** Keys are the partner's own text, up to 255 characters of it: hashed they are short and tell nothing. */
export const recordKey = ({ partner_id, key }: { partner_id: string; key: string }): string =>
  `bmg:{${partner_id}}:idempotency:${createHash('sha256').update(key).digest('base64url')}`;
