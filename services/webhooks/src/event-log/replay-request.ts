// Checks a request for a replay, and finds the positions that it has.
import { invalidField, missingFields } from '@bmg/common/errors';
import { newId } from '@bmg/common/ids';
import { unsampled } from '@bmg/common/telemetry';
import type { Room } from './read-budget';
import type { Reader } from './reader';
import type { Receivers } from '../delivery';
import type { Range } from './store/buckets';
import type { Replay } from './store/replays';

export interface ReplayRequest {
  partner_id: string;
  /** Absent: to the webhook URL. */
  endpoint_id?: string | undefined;
  waba_id: string | undefined;
  events: string[] | undefined;
  from: Date | undefined;
  to: Date | undefined;
  event_ids: string[];
}

const EVENT_IDS_MAX = 1_000;
const KEPT_MS = 30 * 86_400_000;
const RECEIVER_TIMEOUT_MS = 5_000;

/** The refusals that need no query. */
export function checkReplayRequest({ from, to, event_ids }: ReplayRequest): void {
  const is_list = event_ids.length > 0;
  if (is_list && (from ?? to)) throw invalidField('event_ids', 'cannot be combined with from, to');
  if (!is_list && !from) {
    throw missingFields(['from', 'event_ids'], 'from or event_ids is required');
  }
  if (event_ids.length > EVENT_IDS_MAX) {
    throw invalidField('event_ids', `must have at most ${EVENT_IDS_MAX} items`);
  }
}

export async function newReplay(
  { reader, receivers }: { reader: Reader; receivers: Receivers },
  request: ReplayRequest,
  room: Room,
): Promise<Replay> {
  const { partner_id, endpoint_id, from, to, event_ids, events, waba_id } = request;
  const timeout = AbortSignal.timeout(RECEIVER_TIMEOUT_MS);
  const receiver = await receivers.of(partner_id, unsampled(), timeout);
  if (endpoint_id !== undefined) {
    const endpoint = receiver.endpoints.find((one) => one.endpoint_id === endpoint_id);
    if (!endpoint) throw invalidField('endpoint_id', 'is not one of your webhook endpoints');
    if (endpoint.status !== 'active') {
      throw invalidField(
        'endpoint_id',
        `is ${endpoint.status}: make it active, then replay events`,
      );
    }
  } else if (!receiver.webhook_url) {
    throw missingFields(['webhook_url'], 'no webhook_url is set: set one, then replay events');
  }
  const is_list = event_ids.length > 0;
  const { first, last } = is_list
    ? await rangeOfIds(reader, request, room)
    : await reader.range(partner_id, { after: undefined, from, to: to ?? new Date() });
  const now = Date.now();
  return {
    _id: newId('rpl', now),
    partner_id,
    ...(endpoint_id !== undefined && { endpoint_id }),
    running: partner_id,
    status: 'running',
    first,
    last,
    position: first - 1,
    delivered: 0,
    waba_id: waba_id ?? null,
    events: events ?? null,
    event_ids: is_list ? event_ids : null,
    created_at: new Date(now),
    ended_at: null,
    failed_event_id: null,
    error: null,
    owner: '',
    leased_until: new Date(0),
    expires_at: new Date(now + KEPT_MS),
  };
}

async function rangeOfIds(
  reader: Reader,
  { partner_id, event_ids }: ReplayRequest,
  room: Room,
): Promise<Range> {
  const positions = await reader.positions(partner_id, new Set(event_ids), room);
  const unknown = event_ids.findIndex((id) => !positions.has(id));
  if (unknown >= 0) throw invalidField(`event_ids[${unknown}]`, 'is not an event of your log');
  const all = [...positions.values()];
  return { first: Math.min(...all), last: Math.max(...all) };
}
