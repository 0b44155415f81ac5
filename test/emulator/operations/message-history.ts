// GET /{number}/message_history: the statuses that the messages of a number have had, whether or
// not their webhooks arrived.
import { numberOf, routesOf, type Call } from '../core';
import { requestedFields, type FieldRules } from '../fields';
import { listAnswer, page } from '../paging';
import type { JsonObject, SentMessage, StatusRecord } from '../types';

const rules: FieldRules = {
  node_type: 'WhatsAppMessageHistory',
  defaults: ['id', 'message_id'],
  known: ['events'],
};

export const messageHistoryRoutes = routesOf('whatsapp_business_management', {
  'GET /:number/message_history': messageHistory,
});

function messageHistory(call: Call): JsonObject {
  const number = numberOf(call);
  const withEvents = requestedFields(call.query, rules).some(({ name }) => name === 'events');
  const id = call.query.get('message_id');
  const found = id === null ? [...call.core.journal.messages.walk()] : messageOf(call, id);
  const own = found.filter(({ phone_number_id }) => phone_number_id === number.id);
  const shown = page(own, (message) => message.id, call);
  return listAnswer(shown, (message) => ({
    id: historyId(message),
    message_id: message.id,
    ...(withEvents && { events: { data: eventsOf(call, message) } }),
  }));
}

function messageOf({ core }: Call, id: string): SentMessage[] {
  const message = core.journal.messageById(id);
  return message ? [message] : [];
}

const historyId = ({ seq }: SentMessage): string => String(140_000_000_000_000 + seq);

function eventsOf({ core }: Call, message: SentMessage): JsonObject[] {
  return message.history.map(({ status, at, description }: StatusRecord, index) => ({
    id: `${historyId(message)}${index}`,
    delivery_status: status.toUpperCase(),
    timestamp: Math.floor(at / 1000),
    application: { id: core.config.app_id },
    ...(description !== null && { error_description: description }),
  }));
}
