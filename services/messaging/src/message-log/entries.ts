// The entries of a timeline, in the order of time. Pure.
import { statusRank, type MessageStatus } from '@bmg/common/messages';
import type { TimelineEntry } from '@bmg/proto/messaging';
import type { GetEventResponse } from '@bmg/proto/webhooks';
import type { MessageRecord, StatusRecord } from '../store/messages';

type Entry = TimelineEntry & { at: Date };

/** `record` is null for a message that was not sent through this service. */
export function entriesOf(record: MessageRecord | null, events: GetEventResponse[]): Entry[] {
  const entries = [...(record ? [...sending(record), ...statusesOf(record)] : []), ...told(events)];
  // A stable sort: equal times keep the order of cause and effect.
  return entries.sort((one, other) => placeOf(one) - placeOf(other));
}

/** By our clock: the upstream's times are whole seconds and may be ahead or behind. */
const placeOf = ({ at, received_at }: Entry): number => (received_at ?? at).getTime();

function sending({ sent_at, send }: MessageRecord): Entry[] {
  if (!send) return [];
  const { http_request_id: request_id, idempotency_key, trace_id, upstream } = send;
  const at = new Date(sent_at.getTime() - upstream.duration_ms);
  return [
    { type: 'accepted', at, trace_id, request_id, idempotency_key },
    {
      type: 'upstream',
      at,
      trace_id,
      http_status: upstream.http_status,
      duration_ms: upstream.duration_ms,
      upstream_trace_id: upstream.trace_id,
    },
  ];
}

function statusesOf({ statuses = {} }: MessageRecord): Entry[] {
  const known = Object.entries(statuses) as Array<[MessageStatus, StatusRecord]>;
  return known
    .sort(([one], [other]) => statusRank(one) - statusRank(other))
    .map(([status, { at, received_at, superseded, reconciled, error_code, trace_id }]) => ({
      type: 'status',
      at,
      trace_id,
      status,
      received_at,
      superseded: superseded ?? false,
      source: reconciled ? 'message_history' : 'webhook',
      error_code,
    }));
}

const told = (events: GetEventResponse[]): Entry[] =>
  events.flatMap(({ event, attempts }): Entry[] => {
    if (!event?.received_at) return [];
    const { event_id, seq, trace_id } = event;
    return [
      {
        type: 'event',
        at: event.received_at,
        trace_id,
        event_id,
        seq,
        event: event.event,
        delivery_status: event.delivery?.status,
      },
      ...attempts.flatMap(({ at, number, http_status, duration_ms, error }): Entry[] =>
        at
          ? [{ type: 'attempt', at, trace_id, event_id, number, http_status, duration_ms, error }]
          : [],
      ),
    ];
  });
