// `smb_app_state_sync`: the address book of the business mobile app. Upstream sends `add` for edits
// too; memory.ts, which knows the contacts, turns that into `update`.
import {
  objectOf,
  setIfGiven,
  stringOf,
  toContact,
  toText,
  type JsonObject,
} from '@bmg/common/upstream-webhook';
import {
  emit,
  emitOther,
  keyOfContent,
  lists,
  refuse,
  timeOf,
  type Context,
  type FieldRows,
} from './context';

/** Upstream leaves out names that are unknown and, on removal, all names. */
const NAMES = ['full_name', 'first_name', 'username'] as const;

export const contactFields: FieldRows = { smb_app_state_sync: lists({ state_sync: readSync }) };

function readSync(item: JsonObject, context: Context): void {
  const contact = objectOf(item.contact);
  if (contact === null) return withoutContact(item, context);
  const action = toText(item.action);
  const phone_number = toText(contact.phone_number);
  const bsuid = toText(contact.user_id);
  if (action === null) return refuse(context, 'no_action', item);
  if (phone_number === null && bsuid === null) return refuse(context, 'no_identity', item);
  const other = toContact(phone_number ?? bsuid);
  const data: Record<string, unknown> = { action, phone_number, bsuid };
  for (const key of NAMES) setIfGiven(data, key, stringOf(contact[key]));
  emit(context, {
    event: 'contact.synced',
    occurrence: keyOfContent('contact', item, context, other, action),
    contact: other,
    timestamp: timeOf(objectOf(item.metadata)?.timestamp, context),
    data,
  });
}

/** Upstream may sync other kinds of state in the future; only contacts have an event. */
function withoutContact(item: JsonObject, context: Context): void {
  const type = toText(item.type);
  if (type === null || type === 'contact') refuse(context, 'no_contact', item);
  else emitOther(context, 'no_event', item, 'state_sync');
}
