// The statuses of sent messages. They are most of all traffic, so this is a hot path.
import { eventOfStatus, occurrence } from '@bmg/common/messages';
import {
  listOf,
  objectOf,
  recipientOf,
  toText,
  type JsonObject,
} from '@bmg/common/upstream-webhook';
import { emit, emitOther, refuse, timeOf, type Context } from './context';

/** A voice message was played: the contract has no event for it. */
const PLAYED = 'played';

/** A status that has its required keys. */
export interface Status {
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
  if (event === undefined) return emitOther(context, 'unknown_status', item, 'statuses');
  emit(context, {
    event,
    occurrence: status.occurrence,
    contact: status.contact,
    timestamp: status.timestamp,
    data: status.data,
    callback_data: toText(item.biz_opaque_callback_data),
  });
}

/** Null for a status without an event of its own, or one that was refused. */
export function statusOf(space: string, item: JsonObject, context: Context): Status | null {
  const status = toText(item.status);
  const message_id = toText(item.id);
  if (status === PLAYED) {
    emitOther(context, 'played', item, 'statuses');
    return null;
  }
  // A partner cannot match a status without a message_id to a send.
  if (status === null || message_id === null) {
    refuse(context, status === null ? 'no_status' : 'no_message_id', item);
    return null;
  }
  const timestamp = timeOf(item.timestamp, context);
  return {
    status,
    timestamp,
    contact: recipientOf(item, context).contact,
    occurrence: keyOfStatus(space, item, context, { message_id, status }),
    data: statusData(item, { message_id, status, timestamp }),
  };
}

/** `pricing` and `conversation` are null when not supplied; values keep the upstream's spelling. */
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

/** In a group, every participant has a separate status under the same message id. */
function addParticipant(data: Record<string, unknown>, item: JsonObject): void {
  const participant = participantOf(item);
  const bsuid = toText(item.recipient_participant_user_id);
  if (participant !== null) data.participant = participant;
  if (bsuid !== null) data.participant_bsuid = bsuid;
}

/** Older traffic swaps the words of the key. */
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
