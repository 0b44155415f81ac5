// The pace of a number, shared by all workers through Redis. Every message needs a pace slot, and
// slots follow each other at the interval of the rate (the generic cell rate algorithm without a
// burst). Unused slots are not saved up, so that no second holds more messages than the rate.
import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { RedisConnection } from '@bmg/common/redis';

export interface Slots {
  count: number;
  /** No other worker has reserved slots of this number in the last few seconds. */
  alone: boolean;
  /** Time until the first slot; when `count` is 0, until the next attempt can succeed. */
  wait_ms: number;
  interval_ms: number;
  /** Round trip of the reservation: the slots may be late by as much, seen by other workers. */
  took_ms: number;
}

/** Slots further ahead are not handed out: a worker that crashes loses no more than these. */
const HORIZON_MS = 2_500;
/** Lowers the rate by a third, at most once a second: sends in flight are refused together. */
const SLOWER = 0.67;
const SLOWER_EVERY_MS = 1_000;
const SLOWEST = 0.05;
/** Time from a rate of zero back to the full rate. */
const RECOVERY_MS = 60_000;
const KEPT_MS = 120_000;
/** A worker counts as sending for this long after its last reservation. */
const OTHERS_MS = 5_000;

// Redis's own time, so that workers do not depend on each other's clocks.
const COMMON = `
local t = redis.call('TIME')
local now = t[1] * 1000 + t[2] / 1000
local s = redis.call('HMGET', KEYS[1], 'next', 'factor', 'at', 'rate')
local factor = 1
if s[2] then factor = math.min(1, tonumber(s[2]) + math.max(0, now - tonumber(s[3])) / ${RECOVERY_MS}) end
local function text(number) return string.format('%.3f', number) end
`;

const RESERVE = `${COMMON}
local rate, count, lead = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local interval = 1000 / (rate * factor)
local first = math.max(tonumber(s[1] or '0'), now + lead)
local room = math.floor((${HORIZON_MS} - (first - now)) / interval) + 1
if room < 1 then
  return {0, text(first - now - ${HORIZON_MS} + interval), text(interval), 0}
end
local granted = math.min(count, room)
local others = redis.call('HMGET', KEYS[1], 'by', 'other')
local other = tonumber(others[2] or '0')
if others[1] and others[1] ~= ARGV[4] then other = now end
redis.call('HSET', KEYS[1], 'by', ARGV[4], 'other', text(other))
redis.call('HSET', KEYS[1], 'next', text(first + granted * interval), 'rate', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ${KEPT_MS})
return {granted, text(first - now), text(interval), now - other > ${OTHERS_MS} and 1 or 0}
`;

const SLOW_DOWN = `${COMMON}
if s[2] and now - tonumber(s[3]) < ${SLOWER_EVERY_MS} then return end
redis.call('HSET', KEYS[1], 'factor', text(math.max(${SLOWEST}, factor * ${SLOWER})), 'at', text(now))
redis.call('PEXPIRE', KEYS[1], ${KEPT_MS})
`;

// At most half of the horizon is given up, so that broadcasts always make some progress.
const GIVE_WAY = `${COMMON}
if not s[4] then return end
local first = math.max(tonumber(s[1] or '0'), now)
local later = first + tonumber(ARGV[1]) * 1000 / (tonumber(s[4]) * factor)
redis.call('HSET', KEYS[1], 'next', text(math.max(first, math.min(later, now + ${HORIZON_MS / 2}))))
`;

const RATE = `${COMMON}
if not s[4] then return false end
return text(tonumber(s[4]) * factor)
`;

interface WithPace extends Redis {
  bmgPaceReserve(
    key: string,
    rate: number,
    count: number,
    lead: number,
    by: string,
  ): Promise<[number, string, string, number]>;
  bmgPaceSlowDown(key: string): Promise<null>;
  bmgPaceGiveWay(key: string, count: number): Promise<null>;
  bmgPaceRate(key: string): Promise<string | null>;
}

const keyOf = (phone_number_id: string): string => `bmg:{n:${phone_number_id}}:pace`;

/** One per worker: it identifies the worker when slots are shared. */
export function createPace({ redis }: Pick<RedisConnection, 'redis'>) {
  const by = randomBytes(6).toString('base64url');
  redis.defineCommand('bmgPaceReserve', { numberOfKeys: 1, lua: RESERVE });
  redis.defineCommand('bmgPaceSlowDown', { numberOfKeys: 1, lua: SLOW_DOWN });
  redis.defineCommand('bmgPaceGiveWay', { numberOfKeys: 1, lua: GIVE_WAY });
  redis.defineCommand('bmgPaceRate', { numberOfKeys: 1, lua: RATE });
  const scripts = redis as WithPace;
  return {
    /**
     * Reserves up to `count` slots, at least `lead_ms` from now. Undefined while Redis is
     * unavailable.
     */
    async reserve(
      phone_number_id: string,
      rate: number,
      count: number,
      lead_ms: number,
    ): Promise<Slots | undefined> {
      const asked_at = performance.now();
      const answer = await scripts
        .bmgPaceReserve(keyOf(phone_number_id), rate, count, lead_ms, by)
        .catch(() => undefined);
      if (!answer) return undefined;
      const [granted, wait, interval, alone] = answer;
      return {
        count: granted,
        alone: alone === 1,
        wait_ms: Number(wait),
        interval_ms: Number(interval),
        took_ms: performance.now() - asked_at,
      };
    },
    /** Lowers the rate after the upstream refused a message with 130429. */
    async slowDown(phone_number_id: string): Promise<void> {
      // May fail: the refused contact waits in any case, and the next refusal repeats the call.
      await scripts.bmgPaceSlowDown(keyOf(phone_number_id)).catch(() => undefined);
    },
    /** The partner sent `count` messages itself: the broadcasts lose as many slots. */
    async giveWay(phone_number_id: string, count: number): Promise<void> {
      // May fail: at worst the upstream refuses a message, which lowers the rate too.
      await scripts.bmgPaceGiveWay(keyOf(phone_number_id), count).catch(() => undefined);
    },
    /**
     * The current rate per second; undefined when the number sends nothing or Redis is unavailable.
     */
    async rate(phone_number_id: string): Promise<number | undefined> {
      const rate = await scripts.bmgPaceRate(keyOf(phone_number_id)).catch(() => null);
      return rate === null ? undefined : Number(rate);
    },
  };
}

export type Pace = ReturnType<typeof createPace>;
