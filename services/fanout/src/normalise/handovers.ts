// Fields that change our own state, and whose events are extra: the handler of a conversation and a
// person's BSUID.
import {
  objectOf,
  setIfGiven,
  toContact,
  toText,
  type JsonObject,
} from '@bmg/common/upstream-webhook';
import {
  changeState,
  emitExtra,
  emitOther,
  keyOfContent,
  lists,
  refuse,
  timeOf,
  type Context,
  type FieldRows,
} from './context';

export const handoverFields: FieldRows = {
  messaging_handovers: handovers,
  user_id_update: lists({ user_id_update: readUserId }),
};

/** `messaging_handovers`: control is passed per conversation. */
function handovers(value: JsonObject, context: Context): void {
  const type = toText(value.type);
  const detail =
    objectOf(value[type ?? '']) ?? objectOf(value.control_passed) ?? objectOf(value.control_taken);
  if (detail === null) return refuse(context, 'no_handover', value);
  const current_handler = toText(detail.new_owner_role);
  // An upstream sample without a type and a handler must not clear the known handler.
  if (type === null && current_handler === null) return emitOther(context, 'no_event', value);
  const sender = objectOf(value.sender);
  const contact = toContact(toText(sender?.phone_number) ?? toText(sender?.user_id));
  const timestamp = timeOf(value.timestamp, context);
  const data = {
    type,
    current_handler,
    previous_handler: toText(detail.previous_owner_role) ?? toText(detail.previous_owner_app_role),
    new_owner_app_id: toText(detail.new_owner_app_id),
    previous_owner_app_id: toText(detail.previous_owner_app_id),
  };
  changeState(context, {
    kind: 'handover',
    occurrence: keyOfContent('handover', value, context, contact, type),
    contact,
    timestamp,
    data,
  });
  emitExtra(context, {
    event: 'handover.updated',
    occurrence: keyOfContent('handover_updated', value, context, contact, type),
    contact,
    timestamp,
    data: {
      phone_number: toText(sender?.phone_number),
      bsuid: toText(sender?.user_id),
      ...data,
      raw: { handover: value },
    },
  });
}

/** A person's BSUID changed. */
function readUserId(item: JsonObject, context: Context): void {
  const ids = objectOf(item.user_id);
  const previous = toText(ids?.previous);
  const current = toText(ids?.current);
  if (current === null) return refuse(context, 'no_identity', item);
  const wa_id = toText(item.wa_id);
  const data: Record<string, unknown> = { previous_bsuid: previous, bsuid: current };
  setIfGiven(data, 'wa_id', wa_id);
  const contact = toContact(wa_id ?? current);
  const timestamp = timeOf(item.timestamp, context);
  changeState(context, {
    kind: 'user_id_changed',
    occurrence: keyOfContent('user_id', item, context, previous, current),
    contact,
    timestamp,
    data,
  });
  emitExtra(context, {
    event: 'contact.id_changed',
    occurrence: keyOfContent('id_changed', item, context, previous, current),
    contact,
    timestamp,
    data: { id_type: 'bsuid', previous, current, phone_number: wa_id, raw: { change: item } },
  });
}
