// `calls`: what happens to a call, with the session descriptions by which the partner's media
// server answers it. All events are extra.
import { occurrence, type ExtraUpstreamEvent } from '@bmg/common/messages';
import {
  callPartyOf,
  listOf,
  objectOf,
  recipientOf,
  toText,
  type JsonObject,
  type Party,
} from '@bmg/common/upstream-webhook';
import {
  emitExtra,
  emitOther,
  lists,
  refuse,
  timeOf,
  type Context,
  type FieldRows,
} from './context';

/** Recordings, transcripts and others become `upstream.other`. */
const CALL_EVENTS: ReadonlyMap<string, ExtraUpstreamEvent> = new Map([
  ['connect', 'call.connect'],
  ['terminate', 'call.terminate'],
]);

export const callFields: FieldRows = { calls: lists({ calls: readCall, statuses: readStatus }) };

function readCall(item: JsonObject, context: Context): void {
  const name = toText(item.event);
  const event = CALL_EVENTS.get(name ?? '');
  if (event === undefined) return emitOther(context, 'no_event', item, 'calls');
  emitCall(item, context, {
    event,
    kind: name,
    from: toText(item.from),
    to: toText(item.to),
    party: callPartyOf(item, context),
  });
}

/** The upstream sends statuses only for calls of the business. */
function readStatus(item: JsonObject, context: Context): void {
  emitCall(item, context, {
    event: 'call.status',
    kind: toText(item.status),
    from: null,
    to: toText(item.recipient_id),
    party: recipientOf(item, context),
  });
}

function emitCall(
  item: JsonObject,
  context: Context,
  call: {
    event: ExtraUpstreamEvent;
    /** Distinguishes the events of one call. */
    kind: string | null;
    from: string | null;
    to: string | null;
    party: Party;
  },
): void {
  const call_id = toText(item.id);
  if (call_id === null) return refuse(context, 'no_identity', item);
  const { event, from, to } = call;
  const { bsuid, contact } = call.party;
  const timestamp = timeOf(item.timestamp, context);
  const errors = listOf(item.errors);
  emitExtra(context, {
    event,
    occurrence: occurrence('call', context.place.key, call_id, event, call.kind),
    contact,
    timestamp,
    data: {
      call_id,
      from,
      to,
      bsuid,
      direction: toText(item.direction),
      session: objectOf(item.session),
      status: toText(item.status),
      timestamp,
      ...(errors.length > 0 && { errors }),
      raw: { call: item },
    },
  });
}
