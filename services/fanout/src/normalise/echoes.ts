// `smb_message_echoes`: messages that the client sent from the business mobile app.

import { conversationOf, partyOf, textOf, typeOf, type Party } from './content';
import {
  eachList,
  emit,
  keyOfItem,
  NO_EVENT,
  timeOf,
  valueErrors,
  type Context,
  type FieldRows,
  type ItemReader,
} from './context';
import { setIfGiven, toText, type JsonObject } from './read';

const LISTS: ReadonlyMap<string, ItemReader> = new Map([
  ['message_echoes', readEcho],
  ['errors', valueErrors],
]);

export const echoFields: FieldRows = { smb_message_echoes: echoes, message_echoes: NO_EVENT };

function echoes(value: JsonObject, context: Context): void {
  eachList(value, context, LISTS);
}

function readEcho(item: JsonObject, context: Context): void {
  const recipient = recipientOf(item, context);
  const timestamp = timeOf(item.timestamp, context);
  const data: Record<string, unknown> = { direction: 'outbound', source: 'business_app' };
  data.message_id = toText(item.id);
  setIfGiven(data, 'to', recipient.phone);
  data.bsuid = recipient.bsuid;
  data.type = typeOf(item);
  data.text = textOf(item);
  data.timestamp = timestamp;
  data.raw = { message: item };
  emit(context, {
    event: 'message.echo',
    occurrence: keyOfItem('echo', item, context),
    contact: conversationOf(item, recipient),
    timestamp,
    data,
  });
}

function recipientOf(message: JsonObject, context: Context): Party {
  return partyOf(context, toText(message.to), toText(message.to_user_id));
}
