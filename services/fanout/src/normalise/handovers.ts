// Fields that change our own state and have no event in the contract: the handler of a conversation
// and a person's BSUID.

import {
  changeState,
  eachItem,
  ignore,
  keyOfContent,
  refuse,
  timeOf,
  type Context,
  type FieldRows,
} from './context';
import { objectOf, setIfGiven, toContact, toText, type JsonObject } from './read';

export const handoverFields: FieldRows = {
  messaging_handovers: handovers,
  user_id_update: userIds,
};

/** `messaging_handovers`: control is passed per conversation. */
function handovers(value: JsonObject, context: Context): void {
  ignore(context, 'no_event');
  const type = toText(value.type);
  const detail =
    objectOf(value[type ?? '']) ?? objectOf(value.control_passed) ?? objectOf(value.control_taken);
  if (detail === null) return refuse(context, 'no_handover', value);
  const current_handler = toText(detail.new_owner_role);
  // An upstream sample without a type and a handler must not clear the known handler.
  if (type === null && current_handler === null) return;
  const sender = objectOf(value.sender);
  const contact = toContact(toText(sender?.phone_number) ?? toText(sender?.user_id));
  changeState(context, {
    kind: 'handover',
    occurrence: keyOfContent('handover', value, context, contact, type),
    contact,
    timestamp: timeOf(value.timestamp, context),
    data: {
      type,
      current_handler,
      previous_handler:
        toText(detail.previous_owner_role) ?? toText(detail.previous_owner_app_role),
      new_owner_app_id: toText(detail.new_owner_app_id),
      previous_owner_app_id: toText(detail.previous_owner_app_id),
    },
  });
}

/** `user_id_update`: a person's BSUID changed. */
function userIds(value: JsonObject, context: Context): void {
  ignore(context, 'no_event');
  eachItem(value.user_id_update, context, readUserId);
}

function readUserId(item: JsonObject, context: Context): void {
  const ids = objectOf(item.user_id);
  const previous = toText(ids?.previous);
  const current = toText(ids?.current);
  if (current === null) return refuse(context, 'no_identity', item);
  const wa_id = toText(item.wa_id);
  const data: Record<string, unknown> = { previous_bsuid: previous, bsuid: current };
  setIfGiven(data, 'wa_id', wa_id);
  changeState(context, {
    kind: 'user_id_changed',
    occurrence: keyOfContent('user_id', item, context, previous, current),
    contact: toContact(wa_id ?? current),
    timestamp: timeOf(item.timestamp, context),
    data,
  });
}
