// What became of a message that was sent. Statuses are the bulk of all traffic: this path stays lean.
import { eventOfStatus } from '@bmg/common/messages';
import { partyOf } from './content';
import { changeState, emit, ignore, refuse, timeOf, type Context } from './context';
import { occurrence } from './occurrence';
import { listOf, objectOf, toText, type JsonObject } from './read';

/** A voice message was played: upstream tells it, the contract has no event for it. */
const PLAYED = 'played';

/** A status whose keys are known to be there. */
export interface Status {
  readonly message_id: string;
  readonly status: string;
  readonly timestamp: number;
  readonly contact: string | null;
  readonly occurrence: string;
  readonly data: Record<string, unknown>;
}

export function readStatus(item: JsonObject, context: Context): void {
  const status = statusOf('status', item, context);
  if (status === null) return;
  const event = eventOfStatus(status.status);
  if (event === undefined) return ignore(context, 'unknown_status');
  emit(context, {
    event,
    occurrence: status.occurrence,
    contact: status.contact,
    timestamp: status.timestamp,
    data: status.data,
  });
  rememberSend(item, status, context);
}

/** Null when there is nothing to tell; the reason has been noted then. */
export function statusOf(space: string, item: JsonObject, context: Context): Status | null {
  const status = toText(item.status);
  const message_id = toText(item.id);
  if (status === PLAYED) {
    ignore(context, 'played');
    return null;
  }
  // Status events are keyed on the send's message_id: without one, nobody could place it.
  if (status === null || message_id === null) {
    refuse(context, status === null ? 'no_status' : 'no_message_id', item);
    return null;
  }
  const timestamp = timeOf(item.timestamp, context);
  return {
    message_id,
    status,
    timestamp,
    contact: partyOf(context, toText(item.recipient_id), toText(item.recipient_user_id)).contact,
    occurrence: keyOfStatus(space, item, context, { message_id, status }),
    data: statusData(item, { message_id, status, timestamp }),
  };
}

/** Pricing and conversation objects: null when not supplied; values pass as upstream spells them. */
function statusData(
  item: JsonObject,
  known: { message_id: string; status: string; timestamp: number },
): Record<string, unknown> {
  const data: Record<string, unknown> = {
    message_id: known.message_id,
    status: known.status,
    recipient: toText(item.recipient_id),
    recipient_bsuid: toText(item.recipient_user_id),
    timestamp: known.timestamp,
    pricing: objectOf(item.pricing),
    conversation: conversationOf(objectOf(item.conversation)),
  };
  addParticipant(data, item);
  const errors = listOf(item.errors);
  if (errors.length > 0) data.errors = errors;
  else if (known.status === 'failed') data.errors = null;
  return data;
}

function conversationOf(conversation: JsonObject | null): Record<string, unknown> | null {
  if (conversation === null) return null;
  const { id, origin } = conversation;
  return { id: toText(id), origin: toText(objectOf(origin)?.type ?? origin) };
}

/** In a group every participant has a status of their own under the one message id. */
function addParticipant(data: Record<string, unknown>, item: JsonObject): void {
  const participant = participantOf(item);
  const bsuid = toText(item.recipient_participant_user_id);
  if (participant !== null) data.participant = participant;
  if (bsuid !== null) data.participant_bsuid = bsuid;
}

/** Older traffic spells the key the other way round. */
function participantOf(item: JsonObject): string | null {
  return toText(item.recipient_participant_id) ?? toText(item.participant_recipient_id);
}

function keyOfStatus(
  space: string,
  item: JsonObject,
  { place }: Context,
  { message_id, status }: { message_id: string; status: string },
): string {
  const participant = participantOf(item) ?? toText(item.recipient_participant_user_id);
  return participant === null
    ? occurrence(space, place.key, message_id, status)
    : occurrence(space, place.key, message_id, status, participant);
}

/** What a send carried for us comes back with its statuses; it is ours, not the partner's. */
function rememberSend(item: JsonObject, status: Status, context: Context): void {
  const carried = toText(item.biz_opaque_callback_data);
  if (carried === null) return;
  changeState(context, {
    kind: 'send_status',
    occurrence: `send_${status.occurrence}`,
    contact: status.contact,
    timestamp: status.timestamp,
    data: {
      message_id: status.message_id,
      status: status.status,
      biz_opaque_callback_data: carried,
    },
  });
}
