// The bucket that all gateway replicas share. Its script also returns the partner's directory
// version, so that a request needs one round trip for both.
import type { Redis } from 'ioredis';
import { partnerVersionKey } from '@bmg/common/directory';
import { rateLimitResult, versionOnly, type Bucket } from './bucket';

// Returns only the version when no token is requested. The time is Redis's: the clocks of the
// replicas may differ.
const SCRIPT = `
local version = redis.call('GET', KEYS[2]) or ''
local rate, cost = tonumber(ARGV[1]), tonumber(ARGV[2])
if cost == 0 or (ARGV[3] and ARGV[3] ~= version) then return {version} end
local now = redis.call('TIME')
local at = now[1] * 1000 + now[2] / 1000
local state = redis.call('HMGET', KEYS[1], 't', 'a')
local tokens = rate
if state[1] then
  tokens = math.min(rate, tonumber(state[1]) + math.max(0, at - tonumber(state[2])) * rate / 1000)
end
local allowed = 0
if tokens >= 1 then
  allowed = 1
  tokens = tokens - 1
end
redis.call('HSET', KEYS[1], 't', tostring(tokens), 'a', string.format('%.3f', at))
redis.call('PEXPIRE', KEYS[1], 2000)
return {version, allowed, tostring(tokens)}
`;

interface WithTake extends Redis {
  bmgTake(
    bucket: string,
    version: string,
    rate: number,
    cost: number,
    ...at_version: string[]
  ): Promise<[version: string, allowed?: number, tokens?: string]>;
}

export function createRedisBucket(redis: Redis): Bucket {
  redis.defineCommand('bmgTake', { numberOfKeys: 2, lua: SCRIPT });
  return {
    async take(partner_id, rate, cost, at_version) {
      const [version, allowed, tokens] = await (redis as WithTake).bmgTake(
        `bmg:{${partner_id}}:bucket`,
        partnerVersionKey(partner_id),
        rate,
        cost,
        ...(at_version === undefined ? [] : [at_version]),
      );
      return allowed === undefined
        ? versionOnly(rate, version)
        : rateLimitResult(Number(tokens), rate, allowed === 1, version);
    },
  };
}
