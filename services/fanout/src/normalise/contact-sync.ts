// `smb_app_state_sync`: the address book of the business mobile app. Upstream says `add` for edits
// too; whoever knows the contacts turns that into `update`.

import {
  eachList,
  emit,
  ignore,
  keyOfContent,
  refuse,
  timeOf,
  valueErrors,
  type Context,
  type ItemReader,
} from './context';
import { objectOf, setGiven, stringOf, toContact, toText, type JsonObject } from './read';

const LISTS: ReadonlyMap<string, ItemReader> = new Map([
  ['state_sync', readSync],
  ['errors', valueErrors],
]);

/** Upstream leaves out what is not known or, on removal, no longer matters. */
const NAMES = ['full_name', 'first_name', 'username'] as const;

export function contactSync(value: JsonObject, context: Context): void {
  eachList(value, context, LISTS);
}

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
  for (const key of NAMES) setGiven(data, key, stringOf(contact[key]));
  emit(context, {
    event: 'contact.synced',
    occurrence: keyOfContent('contact', item, context, other, action),
    contact: other,
    timestamp: timeOf(objectOf(item.metadata)?.timestamp, context),
    data,
  });
}

/** Other kinds of state may come to be synced one day; they are no contacts. */
function withoutContact(item: JsonObject, context: Context): void {
  const type = toText(item.type);
  if (type === null || type === 'contact') refuse(context, 'no_contact', item);
  else ignore(context, 'no_event');
}
