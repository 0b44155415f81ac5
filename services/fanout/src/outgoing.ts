// The last step of the fan-out: the Kafka messages of one item. The event goes to our own services,
// and one delivery to each partner that owns the number or the account.
import { topics, type Outgoing } from '@bmg/common/bus';
import { contentId } from '@bmg/common/ids';
import { metrics } from '@bmg/common/telemetry';
import type { GetOwnersResponse } from '@bmg/proto/onboarding';
import type { Delivery, Event } from '@bmg/proto/stream';
import type { Enveloped } from './envelope';
import type { Item } from './read-webhook';

export interface Serialised {
  /** The item's data as JSON text. */
  data: string;
  /** The callback data of a send, if the item is the status of one. */
  callback_data: string | undefined;
}

/** A state change yields the event alone: partners do not get it. */
export function* outgoingOf(
  item: Item,
  owner: GetOwnersResponse,
  { data, callback_data }: Serialised,
  envelope: (event: Enveloped, event_id: string) => Buffer,
): Generator<Outgoing<unknown>> {
  const { from } = item;
  const internal = !('event' in item);
  const name = internal ? item.kind : item.event;
  const waba_id = item.waba_id || (owner.waba_id ?? '');
  const phone_number_id = item.phone_number_id ?? owner.phone_number_id ?? null;
  const conversation = `${phone_number_id ?? waba_id}|${item.contact ?? ''}`;
  const span = from.span.spanContext();
  const { received_at_ms } = from.webhook;
  const event: Event = {
    occurrence_id: contentId('occ', item.occurrence),
    event: name,
    internal,
    waba_id,
    phone_number_id: phone_number_id ?? undefined,
    contact: item.contact ?? undefined,
    timestamp: item.timestamp,
    data,
    received_at_ms,
    partner_ids: owner.partner_ids,
    opaque: callback_data,
  };
  from.published += 1;
  yield { topic: topics.event, key: conversation, message: event, span };
  if (internal) return;
  metrics.events_normalised.inc({ event: name });
  const enveloped = { event: name, waba_id, phone_number_id, timestamp: item.timestamp, data };
  for (const partner_id of owner.partner_ids) {
    const event_id = contentId('evt', item.occurrence, partner_id);
    const message: Delivery = {
      event_id,
      partner_id,
      event: name,
      waba_id,
      phone_number_id: phone_number_id ?? undefined,
      conversation,
      body: envelope(enveloped, event_id),
      received_at_ms,
    };
    from.published += 1;
    yield { topic: topics.delivery, key: `${partner_id}|${conversation}`, span, message };
  }
}
