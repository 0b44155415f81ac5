// `smb_message_echoes`: messages that the client sent from the business mobile app.
import type { UpstreamEvent } from '@bmg/common/messages';
import {
  addresseeOf,
  conversationOf,
  setIfGiven,
  toText,
  type JsonObject,
  type Party,
} from '@bmg/common/upstream-webhook';
import { emit, keyOfItem, lists, NO_EVENT, timeOf, type Context, type FieldRows } from './context';
import { textOf, typeOf } from './messages';

export const echoFields: FieldRows = {
  smb_message_echoes: lists({ message_echoes: readEcho }),
  message_echoes: NO_EVENT,
};

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
    event: UpstreamEvent;
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
