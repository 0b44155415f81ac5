// The facts from earlier webhooks that complete an event: the statuses a message has had, the
// handler of a thread, the known contacts, the prices sent for a category change. They are stored
// in Redis; while it is unavailable, events go out without them.
//
// This file decides for the partner's event if a status is superseded, and messaging's store
// decides for the record of the message. Both follow the order of `status-order.ts`. There are two
// places because events are sent for every message of a number, also for those that were not sent
// through this service and have no record, and must not wait for messaging; and because a record
// must be right even if Redis has lost its data.
import type { Redis } from 'ioredis';
import type { RedisConnection } from '@bmg/common/redis';
import { contentId, spellingsOf } from '@bmg/common/ids';
import { RECONCILED, statusOfEvent, statusRank, type MessageStatus } from '@bmg/common/messages';
import { metrics } from '@bmg/common/telemetry';
import type { NormalisedEvent, StateChange } from './normalise';

// Bits 0 to 3: statuses seen, by rank. Bits 4 to 7: statuses that were already superseded when
// first seen, so that a repetition gives the same answer. Bits 8 to 11: statuses first seen by gap
// repair. Returns 2 for a status that the other source, a webhook or gap repair, has reported
// before; a repetition by the same source may be one that was not published yet.
const STATUS_SCRIPT = `
local rank = tonumber(ARGV[1])
local bits = tonumber(redis.call('GET', KEYS[1]) or '0')
local seen = 2 ^ rank
local known = math.floor(bits / seen) % 2
local reconciled = math.floor(bits / (seen * 256)) % 2
if known == 1 and reconciled ~= tonumber(ARGV[3]) then return 2 end
if known == 0 then
  local higher = 0
  for other = rank + 1, 3 do
    if math.floor(bits / 2 ^ other) % 2 == 1 then higher = 1 end
  end
  bits = bits + seen
  if higher == 1 then bits = bits + seen * 16 end
  bits = bits + seen * 256 * tonumber(ARGV[3])
  local life = bits >= 256 and ARGV[4] or ARGV[2]
  redis.call('SET', KEYS[1], string.format('%d', bits), 'EX', life)
end
return math.floor(bits / (seen * 16)) % 2
`;

// A message that the app receives means that the app handles the thread again, unless the handover
// is newer: webhooks are repeated, and arrive in any order.
const HAND_BACK_SCRIPT = `
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local since = tonumber(redis.call('GET', KEYS[2]) or '0')
if tonumber(ARGV[1]) < since then return 0 end
return redis.call('DEL', KEYS[1], KEYS[2])
`;

const SUPERSEDED = 1;
const DUPLICATE = 2;
const STATUS_LIFE_S = 2 * 86_400;
/** The upstream repeats a webhook for up to seven days. */
const RECONCILED_LIFE_S = 8 * 86_400;
const HANDLER_LIFE_S = 30 * 86_400;
/** A repetition within this time has the same prices, whatever rate card is loaded in between. */
const COST_LIFE_S = 2 * 86_400;
const CONTACT_LIFE_S = 180 * 86_400;

interface WithScripts extends Redis {
  bmgHandBack(handler_key: string, handed_over_key: string, timestamp: number): Promise<number>;
  bmgStatus(
    key: string,
    rank: number,
    life_s: number,
    reconciled: 0 | 1,
    reconciled_life_s: number,
  ): Promise<number>;
}

export type Memory = ReturnType<typeof createMemory>;

export function createMemory(connection: RedisConnection) {
  connection.redis.defineCommand('bmgStatus', { numberOfKeys: 1, lua: STATUS_SCRIPT });
  connection.redis.defineCommand('bmgHandBack', { numberOfKeys: 2, lua: HAND_BACK_SCRIPT });
  const redis = connection.redis as WithScripts;
  return {
    /**
     * Completes the events in place: sets `superseded` and `current_handler`, turns `add` of a
     * known contact into `update`, restores the `cost` that an event was first given, and marks a
     * status as `duplicate` if both gap repair and a webhook reported it. Never throws.
     */
    async complete(events: NormalisedEvent[], state: StateChange[]): Promise<void> {
      if (!connection.up()) return;
      try {
        const handovers = state.filter(({ kind }) => kind === 'handover');
        await Promise.all(handovers.map((change) => handOver(redis, change)));
        await Promise.all(events.map((event) => completeOne(redis, event)));
      } catch {
        // Events must not wait for Redis: they go out without these facts.
      }
    },
  };
}

async function completeOne(redis: WithScripts, event: NormalisedEvent): Promise<void> {
  const reached = statusOfEvent(event.event);
  if (reached) return completeStatus(redis, event, reached);
  if (event.event === 'message.received') return handBack(redis, event);
  if (event.event.startsWith('standby.')) return completeHandler(redis, event);
  if (event.event === 'contact.synced') return completeContact(redis, event);
  if (event.event === 'template.category_updated') return completeCost(redis, event);
}

async function completeStatus(
  redis: WithScripts,
  event: NormalisedEvent,
  reached: MessageStatus,
): Promise<void> {
  const rank = statusRank(reached);
  const message_id = String(event.data['message_id']);
  const participant = event.data['participant'] ?? event.data['participant_bsuid'];
  const key = contentId(
    'status',
    event.phone_number_id ?? '',
    message_id,
    ...(participant ? [String(participant)] : []),
  );
  const reconciled = event.data['source'] === RECONCILED ? 1 : 0;
  const answer = await redis.bmgStatus(key, rank, STATUS_LIFE_S, reconciled, RECONCILED_LIFE_S);
  if (answer === SUPERSEDED) event.data['superseded'] = true;
  if (answer !== DUPLICATE) return;
  event.duplicate = true;
  metrics.webhook_items_ignored.inc({ field: event.event, reason: 'told_before' });
}

async function handOver(redis: Redis, change: StateChange): Promise<void> {
  const [key, ...others] = keysOf('handler', change);
  const [handed_over_key] = keysOf('handover', change);
  await Promise.all([
    redis.set(handed_over_key, change.timestamp, 'EX', HANDLER_LIFE_S),
    redis.set(key, String(change.data['current_handler']), 'EX', HANDLER_LIFE_S),
    // An earlier handover of the other spelling must not come back.
    others.length > 0 && redis.del(...others),
  ]);
}

async function completeHandler(redis: Redis, event: NormalisedEvent): Promise<void> {
  const known = (await redis.mget(keysOf('handler', event))).find((one) => one !== null);
  if (known) event.data['current_handler'] = known;
}

async function handBack(redis: WithScripts, event: NormalisedEvent): Promise<void> {
  const handed_over_keys = keysOf('handover', event);
  await Promise.all(
    keysOf('handler', event).map((key, at) =>
      redis.bmgHandBack(key, handed_over_keys[at] as string, event.timestamp),
    ),
  );
}

async function completeContact(redis: Redis, event: NormalisedEvent): Promise<void> {
  const { action, phone_number, bsuid } = event.data;
  const person = String(phone_number ?? bsuid ?? '');
  if (person === '') return;
  const [key, ...others] = keysOf('contact', { ...event, contact: person });
  if (action === 'remove') {
    await redis.del(key, ...others);
    return;
  }
  if (others.length > 0 && (await redis.exists(...others)) > 0) {
    event.data['action'] = 'update';
    return;
  }
  const first = await redis.set(key, event.occurrence, 'EX', CONTACT_LIFE_S, 'NX');
  // The upstream sends `add` for edits too. A repetition of the first `add` stays an `add`.
  if (first === null && (await redis.get(key)) !== event.occurrence)
    event.data['action'] = 'update';
}

async function completeCost(redis: Redis, event: NormalisedEvent): Promise<void> {
  const key = contentId('cost', event.occurrence);
  const cost_json = JSON.stringify(event.data['cost']);
  if ((await redis.set(key, cost_json, 'EX', COST_LIFE_S, 'NX')) !== null) return;
  const first = await redis.get(key);
  if (first) event.data['cost'] = JSON.parse(first);
}

type Thread = Pick<StateChange, 'phone_number_id' | 'contact'>;

/** The key of the person as it is spelled, then that of the other spelling. */
function keysOf(space: string, { phone_number_id, contact }: Thread): [string, ...string[]] {
  const [own, ...others] = spellingsOf(contact ?? '').map((one) =>
    contentId(space, phone_number_id ?? '', one),
  );
  return [own as string, ...others];
}
