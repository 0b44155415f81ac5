// `standby`: copies of the traffic in threads that the upstream's AI agent handles. Their ids equal
// those of the original events, so their occurrence keys use separate spaces.
import {
  addresseeOfAgent,
  conversationOf,
  createContacts,
  listOf,
  senderOf,
  sentByAgent,
  type JsonObject,
} from '@bmg/common/upstream-webhook';
import {
  eachItem,
  emit,
  ignore,
  keyOfItem,
  lists,
  timeOf,
  type Context,
  type FieldRows,
} from './context';
import { emitEcho } from './echoes';
import { receivedData } from './messages';
import { statusOf } from './statuses';

/** Upstream names no handler: it is the AI agent, unless memory.ts knows of another handover. */
const STANDBY = { standby: true, current_handler: 'ai_agent' } as const;

const readLists = lists({
  messages: readMessage,
  message_echoes: readEcho,
  statuses: readStatus,
});

export const standbyFields: FieldRows = { standby };

/** Real traffic nests the lists one level deeper than `messages` does; upstream samples do not. */
function standby(value: JsonObject, context: Context): void {
  if (!Object.hasOwn(value, 'standby')) return readLists(value, context);
  if (listOf(value.standby).length === 0) return ignore(context, 'empty');
  eachItem(value.standby, context, (inner) => {
    const contacts = createContacts(inner.contacts ?? value.contacts);
    readLists(inner, { ...context, contacts });
  });
}

function readMessage(item: JsonObject, context: Context): void {
  const sender = senderOf(item, context);
  emit(context, {
    event: 'standby.message_received',
    occurrence: keyOfItem('standby_message', item, context),
    contact: conversationOf(item, sender),
    timestamp: timeOf(item.timestamp, context),
    data: { ...STANDBY, ...receivedData(item, sender) },
  });
}

function readEcho(item: JsonObject, context: Context): void {
  const sent = sentByAgent(item);
  emitEcho(item, context, {
    event: 'standby.message_echo',
    space: 'standby_echo',
    marks: STANDBY,
    sent,
    recipient: addresseeOfAgent(sent, context),
  });
}

function readStatus(item: JsonObject, context: Context): void {
  const status = statusOf('standby_status', item, context);
  if (status === null) return;
  emit(context, {
    event: 'standby.message_status',
    occurrence: status.occurrence,
    contact: status.contact,
    timestamp: status.timestamp,
    data: { ...STANDBY, ...status.data },
  });
}
