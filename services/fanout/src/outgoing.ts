// The last step of the fan-out: routes one item. Its state is collected for our own services, and
// one delivery, with the envelope of the event, goes to each partner that owns the number or the
// account.
import { topics, type Outgoing } from '@bmg/common/bus';
import { eventIdOf, ownCallbackData } from '@bmg/common/messages';
import { eventMeta } from '@bmg/common/notices';
import { metrics } from '@bmg/common/telemetry';
import { stringifyData } from '@bmg/common/upstream-webhook';
import type { GetOwnersResponse } from '@bmg/proto/onboarding';
import type { Delivery } from '@bmg/proto/stream';
import type { Item } from './read-webhook';
import type { StateRecords } from './state-records';

export interface Ways {
  records: StateRecords;
  envelope: Envelope;
}

interface Enveloped {
  event: string;
  /** Null for an event that concerns only the partner. */
  waba_id: string | null;
  phone_number_id: string | null;
  timestamp: number;
  /** JSON text, so that the upstream's numbers keep their digits. */
  data: string;
}

/** Builds one partner's body. Only the event id differs between partners. */
export type Envelope = (event: Enveloped, event_id: string) => Buffer;

/** The envelope of contract 12.1: exactly the bytes that are signed and posted. */
export function createEnvelope(public_url: string): Envelope {
  const meta = eventMeta(`${public_url}/changelog`);
  return ({ event, waba_id, phone_number_id, timestamp, data }, event_id) => {
    const head = JSON.stringify({ event, waba_id, phone_number_id, timestamp });
    const tail = JSON.stringify({ ...meta, event_id });
    return Buffer.from(`${head.slice(0, -1)},"data":${data},"meta":${tail}}`, 'utf8');
  };
}

/** The upstream decides what `upstream.other` holds, so its size has a bound of its own. */
const OTHER_BYTES_MAX = 256 * 1024;

/** The item's data as JSON text. A larger value without an event of its own is left out. */
export function dataOf(item: Item): string {
  const text = stringifyData(item.data, item.from.lossless);
  if (!('event' in item) || item.event !== 'upstream.other') return text;
  const value_bytes = Buffer.byteLength(text);
  if (value_bytes <= OTHER_BYTES_MAX) return text;
  return JSON.stringify({ ...item.data, value: null, value_bytes });
}

/** `data` is the item's as JSON text. A state change yields no delivery: partners do not get it. */
export function* outgoingOf(
  item: Item,
  owner: GetOwnersResponse,
  data: string,
  { records, envelope }: Ways,
): Generator<Outgoing<Delivery>> {
  const { from } = item;
  const internal = !('event' in item);
  const name = internal ? item.kind : item.event;
  const waba_id = item.waba_id || (owner.waba_id ?? '');
  const phone_number_id = item.phone_number_id ?? owner.phone_number_id ?? null;
  const conversation = `${phone_number_id ?? waba_id}|${item.contact ?? ''}`;
  const span = from.span.spanContext();
  const { received_at_ms } = from.webhook;
  const record = {
    occurrence: item.occurrence,
    event: name,
    internal,
    waba_id,
    phone_number_id: phone_number_id ?? undefined,
    contact: item.contact ?? undefined,
    timestamp: item.timestamp,
    data: item.data,
    json: data,
    opaque: ownCallbackData(internal ? undefined : item.callback_data, {
      phone_number_id: phone_number_id ?? undefined,
      partner_ids: owner.partner_ids,
    }),
    received_at_ms,
    partner_ids: owner.partner_ids,
    span,
  };
  // Our own services keep no state of extra events.
  if (internal || !item.ignored_as) records.add(record);
  if (internal) return;
  metrics.events_normalised.inc({ event: name });
  const enveloped = { event: name, waba_id, phone_number_id, timestamp: item.timestamp, data };
  for (const partner_id of owner.partner_ids) {
    const event_id = eventIdOf(item.occurrence, partner_id);
    const message: Delivery = {
      event_id,
      partner_id,
      event: name,
      waba_id,
      phone_number_id: phone_number_id ?? undefined,
      conversation,
      body: envelope(enveloped, event_id),
      received_at_ms,
      webhook_published_at_ms: from.times.published_at_ms,
      webhook_read_at_ms: from.times.read_at_ms,
    };
    from.published += 1;
    yield { topic: topics.delivery, key: `${partner_id}|${conversation}`, span, message };
  }
}
