// Bounds the requests for message history: a share of each account's hourly limit, shared by all
// replicas through Redis. Also remembers which numbers the upstream refuses, and which accounts
// must pause.
import type { RedisConnection } from '@bmg/common/redis';

interface HistoryRequest {
  waba_id: string;
  phone_number_id: string;
  /** Only a read receipt can be missing: such requests get half of the quota. */
  minor: boolean;
}

const REFUSED_S = 86_400;
/** The upstream counts by the hour. */
const PAUSE_S = 900;
const WINDOW_S = 60;

// Returns 0, or the seconds to wait.
const TAKE_SCRIPT = `
for i = 2, 4 do
  local left = redis.call('TTL', KEYS[i])
  if left > 0 then return left end
end
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
if used >= tonumber(ARGV[1]) then return math.max(1, redis.call('TTL', KEYS[1])) end
if redis.call('INCR', KEYS[1]) == 1 then redis.call('EXPIRE', KEYS[1], ARGV[2]) end
return 0
`;

const key = (kind: string, id: string): string => `bmg:history:${kind}:${id}`;

export function createHistoryQuota({ redis }: RedisConnection, per_minute: number) {
  return {
    /** Takes one request. Undefined if it may be sent now; otherwise the time to try again. */
    async take(
      { waba_id, phone_number_id, minor }: HistoryRequest,
      now: Date,
    ): Promise<Date | undefined> {
      const wait_s = (await redis.eval(
        TAKE_SCRIPT,
        4,
        key('used', waba_id),
        key('refused', phone_number_id),
        key('paused', waba_id),
        key('paused', 'app'),
        minor ? Math.ceil(per_minute / 2) : per_minute,
        WINDOW_S,
      )) as number;
      return wait_s === 0 ? undefined : new Date(now.getTime() + wait_s * 1_000);
    },
    /** Stops requests for a number for a day. */
    async refuse(phone_number_id: string): Promise<void> {
      await redis.set(key('refused', phone_number_id), '1', 'EX', REFUSED_S);
    },
    /** Pauses an account, or all accounts of the app, that the upstream has limited. */
    async pause(waba_id: string | 'app'): Promise<void> {
      await redis.set(key('paused', waba_id), '1', 'EX', PAUSE_S);
    },
  };
}

export type HistoryQuota = ReturnType<typeof createHistoryQuota>;
