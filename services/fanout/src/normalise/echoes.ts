// `smb_message_echoes`: messages that the client sent from the business mobile app.

import {
  addresseeOf,
  conversationOf,
  setIfGiven,
  toText,
  type JsonObject,
  type Party,
} from '@bmg/common/upstream-webhook';
import { textOf, typeOf } from './content';
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
import type { EventName } from './event-names';

const LISTS: ReadonlyMap<string, ItemReader> = new Map([
  ['message_echoes', readEcho],
  ['errors', valueErrors],
]);

export const echoFields: FieldRows = { smb_message_echoes: echoes, message_echoes: NO_EVENT };

function echoes(value: JsonObject, context: Context): void {
  eachList(value, context, LISTS);
}

function readEcho(item: JsonObject, context: Context): void {
  emitEcho(item, context, {
    event: 'message.echo',
    space: 'echo',
    marks: { direction: 'outbound', source: 'business_app' },
    sent: item,
    recipient: addresseeOf(item, context),
  });
}

/** `sent` is the message inside the item, or the item itself. */
export function emitEcho(
  item: JsonObject,
  context: Context,
  echo: {
    event: EventName;
    space: string;
    marks: Readonly<Record<string, unknown>>;
    sent: JsonObject;
    recipient: Party;
  },
): void {
  const { sent, recipient } = echo;
  const timestamp = timeOf(item.timestamp, context);
  const data: Record<string, unknown> = { ...echo.marks, message_id: toText(item.id) };
  setIfGiven(data, 'to', recipient.phone);
  data.bsuid = recipient.bsuid;
  data.type = typeOf(sent);
  data.text = textOf(sent);
  data.timestamp = timestamp;
  data.raw = { message: item };
  emit(context, {
    event: echo.event,
    occurrence: keyOfItem(echo.space, item, context),
    contact: conversationOf(sent, recipient),
    timestamp,
    data,
  });
}
