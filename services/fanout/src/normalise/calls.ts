// `calls`: what happens to a call, with the session descriptions by which the partner's media server
// answers it. All events are extra.

import { occurrence, type ExtraUpstreamEvent } from '@bmg/common/messages';
import { partyOf } from './content';
import {
  eachList,
  emitExtra,
  emitOther,
  refuse,
  timeOf,
  valueErrors,
  type Context,
  type FieldRows,
  type ItemReader,
} from './context';
import { listOf, objectOf, toText, type JsonObject } from './read';

const LISTS: ReadonlyMap<string, ItemReader> = new Map([
  ['calls', readCall],
  ['statuses', readStatus],
  ['errors', valueErrors],
]);

/** Recordings, transcripts and others become `upstream.other`. */
const CALL_EVENTS: ReadonlyMap<string, ExtraUpstreamEvent> = new Map([
  ['connect', 'call.connect'],
  ['terminate', 'call.terminate'],
]);
const BY_BUSINESS = 'BUSINESS_INITIATED';

export const callFields: FieldRows = {
  calls: (value, context) => eachList(value, context, LISTS),
};

function readCall(item: JsonObject, context: Context): void {
  const name = toText(item.event);
  const event = CALL_EVENTS.get(name ?? '');
  if (event === undefined) return emitOther(context, 'no_event', item, 'calls');
  emitCall(item, context, {
    event,
    kind: name,
    from: toText(item.from),
    to: toText(item.to),
    bsuid: toText(item.direction === BY_BUSINESS ? item.to_user_id : item.from_user_id),
    by_business: item.direction === BY_BUSINESS,
  });
}

/** The upstream sends statuses only for calls of the business. */
function readStatus(item: JsonObject, context: Context): void {
  emitCall(item, context, {
    event: 'call.status',
    kind: toText(item.status),
    from: null,
    to: toText(item.recipient_id),
    bsuid: toText(item.recipient_user_id),
    by_business: true,
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
    bsuid: string | null;
    by_business: boolean;
  },
): void {
  const call_id = toText(item.id);
  if (call_id === null) return refuse(context, 'no_identity', item);
  const { event, from, to } = call;
  const { bsuid, contact } = partyOf(context, call.by_business ? to : from, call.bsuid);
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
