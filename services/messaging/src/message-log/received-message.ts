// A message that this service did not send, built from its events: received, or sent in the
// business app or by another app. Its content stays in the event log.
import type { Message } from '@bmg/proto/messaging';
import type { GetEventResponse } from '@bmg/proto/webhooks';
import { isObject, type Json } from '@bmg/common/upstream';

const ECHOES: ReadonlySet<string> = new Set(['message.echo', 'standby.message_echo']);

/** Undefined without an event. */
export function receivedMessage(
  events: GetEventResponse[],
  { phone_number_id }: { phone_number_id: string },
): Message | undefined {
  const all = events.flatMap(({ event }) =>
    event ? [{ ...event, data: eventData(event.envelope) }] : [],
  );
  // Events of statuses lack the type of the message.
  const main = all.find(({ data }) => typeof data['type'] === 'string') ?? all[0];
  const last = all.at(-1);
  if (!main || !last) return undefined;
  const { data } = main;
  const statuses = all.flatMap((one) => textOf(one.data['status']) ?? []);
  const isOutbound =
    data['direction'] === 'outbound' ||
    (data['direction'] === undefined && (ECHOES.has(main.event) || statuses.length > 0));
  const phone = isOutbound ? (data['to'] ?? data['recipient']) : data['from'];
  return {
    message_id: String(data['message_id']),
    direction: isOutbound ? 'outbound' : 'inbound',
    waba_id: main.waba_id,
    phone_number_id,
    kind: textOf(data['type']) ?? 'unknown',
    contact: textOf(phone) ?? textOf(data['bsuid'] ?? data['recipient_bsuid']),
    status: statuses.at(-1),
    at: main.received_at,
    updated_at: last.received_at,
    broadcast: false,
  };
}

/** Reads the envelope of a logged event. */
export function eventData(envelope: string): Json {
  const { data } = JSON.parse(envelope) as Json;
  return isObject(data) ? data : {};
}

export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
