// The message log: the list of a partner's sends, and the timeline of one message.
import { MessagingDefinition, type Message } from '@bmg/proto/messaging';
import { failureOf } from './failure';
import * as docs from './log-docs';
import * as schemas from './log-schemas';
import { get, rpc, type Endpoint, type Fields } from '../endpoint';

const message = (one: Message, base_url: string): Fields => ({
  message_id: one.message_id,
  direction: one.direction,
  waba_id: one.waba_id,
  phone_number_id: one.phone_number_id,
  kind: one.kind,
  contact: one.contact ?? null,
  status: one.status ?? null,
  at: one.at,
  updated_at: one.updated_at,
  pricing: one.pricing
    ? {
        category: one.pricing.category ?? null,
        billable: one.pricing.billable ?? null,
        type: one.pricing.type ?? null,
      }
    : null,
  cost: one.cost
    ? {
        charged: one.cost.charged ?? null,
        currency: one.cost.currency ?? null,
        amount: one.cost.amount ?? null,
        reason: one.cost.reason ?? null,
      }
    : null,
  broadcast: one.broadcast,
  error_code: one.error_code ?? null,
  failure: failureOf(one.error_code, base_url),
  trace_id: one.trace_id ?? null,
});

/** A record with IDs of the greatest length. */
const MESSAGE_BYTES = 1_400;
const LIMIT_DEFAULT = 50;
/** The service returns 1,000 entries of a timeline at most. */
const TIMELINE_BYTES = 1_000 * 512;

export const messageLog: Endpoint[] = [
  get('/messages', rpc(MessagingDefinition, 'listMessages'), {
    scope: 'filter',
    reads: 'list',
    answer_bytes: ({ limit = LIMIT_DEFAULT }) => limit * MESSAGE_BYTES,
    addition: true,
    query: schemas.listMessages,
    reply: ({ messages, after }, { query, base_url }) => ({
      messages: messages.map((one) => message(one, base_url)),
      limit: query.limit,
      paging: { cursors: { after: after ?? null } },
    }),
    docs: docs.listMessages,
    summary: 'List the messages you sent, newest first',
  }),
  get('/messages/:message_id/timeline', rpc(MessagingDefinition, 'getTimeline'), {
    scope: 'filter',
    reads: 'log',
    answer_bytes: () => TIMELINE_BYTES,
    addition: true,
    query: schemas.getTimeline,
    reply: ({ entries, broadcast, missing, ...found }, { base_url }) => ({
      message: message(found.message as Message, base_url),
      entries: entries.map(({ trace_id = null, ...entry }) => ({
        ...entry,
        ...(entry.error_code && { failure: failureOf(entry.error_code, base_url) }),
        trace_id,
      })),
      broadcast: broadcast ?? null,
      missing,
    }),
    docs: docs.getTimeline,
    summary: 'Retrieve what happened to a message, step by step',
  }),
];
