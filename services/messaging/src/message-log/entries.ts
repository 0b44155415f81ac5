// The entries of a timeline, in the order of time. Pure.
import { statusRank, type MessageStatus } from '@bmg/common/messages';
import type { TimelineEntry } from '@bmg/proto/messaging';
import type { GetEventResponse } from '@bmg/proto/webhooks';
import type { MessageRecord, StatusRecord } from '../messages';
import { eventData, textOf } from './received-message';

type Entry = TimelineEntry & { at: Date };

/** `record` is null for a message that was not sent through this service. */
export function entriesOf(record: MessageRecord | null, events: GetEventResponse[]): Entry[] {
  const entries = [
    ...(record ? [...sending(record), ...statusesOf(record)] : []),
    ...eventsOf(events),
  ];
  // A stable sort: equal times keep the order of cause and effect.
  return entries.sort((one, other) => placeOf(one) - placeOf(other));
}

/** At most `max` entries: the earliest attempts are left out first. */
export function latestOf(entries: Entry[], max: number): { entries: Entry[]; left_out: boolean } {
  let surplus = entries.length - max;
  if (surplus <= 0) return { entries, left_out: false };
  const kept = entries.filter(({ type }) => type !== 'attempt' || (surplus -= 1) < 0);
  return { entries: kept.slice(-max), left_out: true };
}

/** Sorted by our clock: the upstream's times are whole seconds and its clock may differ. */
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

type KnownStatus = StatusRecord & { status: MessageStatus };

function statusesOf(record: MessageRecord): Entry[] {
  const all = statusRecordsOf(record);
  return all.map((known) => {
    const { status, at, received_at, superseded, reconciled, error_code, trace_id } = known;
    return {
      type: 'status',
      at,
      trace_id,
      status,
      received_at,
      superseded:
        known.participant === undefined
          ? (superseded ?? false)
          : all.some((one) => comesBefore(one, known)),
      source: reconciled ? 'message_history' : 'webhook',
      error_code,
      participant: known.participant,
    };
  });
}

function statusRecordsOf({ statuses = {}, participants = [] }: MessageRecord): KnownStatus[] {
  const known = Object.entries(statuses) as Array<[MessageStatus, StatusRecord]>;
  return [...known.map(([status, record]) => ({ ...record, status })), ...participants].sort(
    (one, other) => statusRank(one.status) - statusRank(other.status),
  );
}

/** Each participant of a group goes through the statuses separately. */
const comesBefore = (one: KnownStatus, other: KnownStatus): boolean =>
  one.participant === other.participant &&
  statusRank(one.status) > statusRank(other.status) &&
  one.received_at < other.received_at;

/** The participants of a group that have a status so far. */
export const participantsOf = (record: MessageRecord): string[] => [
  ...new Set(statusRecordsOf(record).flatMap(({ participant }) => participant ?? [])),
];

function participantIn({ envelope }: { envelope: string }): string | undefined {
  const { participant, participant_bsuid } = eventData(envelope);
  return textOf(participant) ?? textOf(participant_bsuid);
}

const eventsOf = (events: GetEventResponse[]): Entry[] =>
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
        participant: participantIn(event),
      },
      ...attempts.flatMap(({ at, number, http_status, duration_ms, error }): Entry[] =>
        at
          ? [{ type: 'attempt', at, trace_id, event_id, number, http_status, duration_ms, error }]
          : [],
      ),
    ];
  });
