// `standby`: copies of what happens in threads that the upstream AI agent handles. Their ids are
// those of the owner's own events, so the keys have spaces of their own.

import { createContacts } from './contacts';
import { conversationOf, partyOf, textOf, typeOf } from './content';
import {
  eachItem,
  eachList,
  emit,
  ignore,
  keyOfItem,
  timeOf,
  valueErrors,
  type Context,
  type ItemReader,
} from './context';
import { receivedData, senderOf } from './messages';
import { listOf, objectOf, setGiven, toText, type JsonObject } from './read';
import { statusOf } from './statuses';

/**
 * Upstream names no handler here. The agent is who it is unless a handover said otherwise, which
 * the caller knows.
 */
const STANDBY = { standby: true, current_handler: 'ai_agent' } as const;

const LISTS: ReadonlyMap<string, ItemReader> = new Map([
  ['messages', readMessage],
  ['message_echoes', readEcho],
  ['statuses', readStatus],
  ['errors', valueErrors],
]);

/** Real traffic nests the lists one level deeper than `messages` does; samples do not. */
export function standby(value: JsonObject, context: Context): void {
  if (!Object.hasOwn(value, 'standby')) return eachList(value, context, LISTS);
  if (listOf(value.standby).length === 0) return ignore(context, 'empty');
  eachItem(value.standby, context, (inner) => {
    const contacts = createContacts(inner.contacts ?? value.contacts);
    eachList(inner, { ...context, contacts }, LISTS);
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

/** The echo wraps the agent's send request; older samples are flat. */
function readEcho(item: JsonObject, context: Context): void {
  const sent = objectOf(item.message) ?? item;
  const phone = toText(sent.to);
  const recipient = partyOf(context, phone, toText(sent.recipient) ?? toText(sent.to_user_id));
  const timestamp = timeOf(item.timestamp, context);
  const data: Record<string, unknown> = { ...STANDBY, message_id: toText(item.id) };
  setGiven(data, 'to', phone);
  data.bsuid = recipient.bsuid;
  data.type = typeOf(sent);
  data.text = textOf(sent);
  data.timestamp = timestamp;
  data.raw = { message: item };
  emit(context, {
    event: 'standby.message_echo',
    occurrence: keyOfItem('standby_echo', item, context),
    contact: conversationOf(sent, recipient),
    timestamp,
    data,
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
