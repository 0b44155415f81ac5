// The message log: the list of a partner's sends, and the timeline of one message.
import { upstreamError } from '@bmg/common/upstream';
import { MessagingDefinition, type Message } from '@bmg/proto/messaging';
import { errorAnchor, upstreamAdvice } from '../../error-guide';
import { get, rpc, type Endpoint, type Fields } from '../endpoint';
import * as is from '../parts/answers';
import {
  broadcastId,
  choice,
  id,
  instant,
  limit,
  nextCursor,
  object,
  RECIPIENT_MAX,
  text,
  wamid,
} from '../parts/inputs';
import { bytesOfItems, nextPage, siteOf } from '../parts/rows';
import { person } from '../parts/rules';
import { shaped } from '../parts/shape';

const MESSAGE_ID = 'wamid.HBgLMTU1NTAxMDA3NzcVAgARGBI';

const pricing = is.maybe.record(
  {
    category: is.maybe.text('utility'),
    billable: is.maybe.flag(true),
    type: is.maybe.text('regular'),
  },
  { description: 'What the upstream charges. Null until a status names a price.' },
);

const cost = is.maybe.record(
  {
    charged: is.maybe.flag(true, 'Billable and delivered: a message is charged once, on delivery.'),
    currency: is.maybe.text('USD'),
    amount: is.maybe.text('0.0550', 'Decimal text; 0 for what is not charged.'),
    reason: is.maybe.text('the operator has loaded no rate card', 'Why there is no amount.'),
  },
  {
    title: 'MessageCost',
    description: 'As in `GET /usage/ledger`. Null for a message that you received.',
  },
);

const failure = is.record(
  {
    upstream_code: is.whole(131_026, 'The upstream’s code.'),
    message: is.text(
      'The message cannot be delivered: the phone number is not on the platform.',
      'What it means.',
    ),
    action: is.text('Do not retry.', 'What to do.'),
    retryable: is.flag(false, 'Whether the same message can be sent again later.'),
    doc_url: is.text('https://gateway.example/docs#upstream-131026', 'Where it is explained.'),
  },
  { title: 'Failure', description: 'A failed status in words.' },
);

const message = is.record(
  {
    message_id: is.text(MESSAGE_ID),
    direction: is.choice(['outbound', 'inbound']),
    waba_id: is.text('900000000000001'),
    phone_number_id: is.text('800000000000001'),
    kind: is.text('text', 'Kind of message. `unknown` if a crash cut off the record of the send.'),
    contact: is.maybe.text('15550100777', 'The other side: a phone number or a BSUID.'),
    status: is.maybe.open(
      ['accepted', 'sent', 'delivered', 'read', 'failed'],
      'The highest status so far. Null for a message that you received.',
    ),
    at: is.time('When it was accepted by the upstream, or received.'),
    updated_at: is.time('Upstream time of the last status.'),
    pricing,
    cost,
    broadcast: is.flag(false, 'Whether a broadcast sent it.'),
    error_code: is.maybe.text('131026', 'Of a failed message: the upstream’s code.'),
    failure: is.orNull(failure),
    trace_id: is.maybe.text(
      '4bf92f3577b34da6a3ce929d0e0e4736',
      'The trace of the failed status, else of the send. Operators find the same trace.',
    ),
  },
  { title: 'Message', description: 'IDs, kind, state and times. Texts are not stored for it.' },
);

/** What only some entries have. */
const particulars = {
  request_id: is.text('req-4711', '`accepted`: the `X-Request-Id` of your request.'),
  idempotency_key: is.text('order-4711', '`accepted`: your `Idempotency-Key`, if you sent one.'),
  http_status: is.whole(200, '`upstream`, `attempt`: the status of the answer.'),
  duration_ms: is.whole(84, '`upstream`, `attempt`: how long the answer took.'),
  upstream_trace_id: is.text('AbCdEf', '`upstream`: the upstream’s own ID of its answer.'),
  status: is.text('delivered', '`status`: the status.'),
  received_at: is.time('`status`: when we received it.'),
  superseded: is.flag(false, '`status`: whether a higher status came first.'),
  source: is.choice(['webhook', 'message_history'], '`status`: how it came to us.'),
  error_code: is.text('131026', '`status`: the upstream’s code of a failure.'),
  failure,
  participant: is.text(
    '15550100777',
    '`status`, `event`: in a group, the participant that the status concerns.',
  ),
  event_id: is.text('evt_8_kN_6GiC20OAm37bI2WmT1pXl0Jd5qYcR4uZs7aVtE', '`event`, `attempt`.'),
  seq: is.whole(4711, '`event`: its position in your event log.'),
  event: is.text('message.delivered', '`event`: its name.'),
  delivery_status: is.text('delivered', '`event`: how its delivery stands.'),
  number: is.whole(1, '`attempt`: 1 for the first one.'),
  error: is.text('timeout', '`attempt`: why it failed.'),
};

const entry = is.record(
  {
    type: is.open(
      ['accepted', 'upstream', 'status', 'event', 'attempt'],
      'What happened: your request, the request to the upstream, a status, an event of yours, an attempt to deliver it.',
    ),
    at: is.time('Of a status: the upstream’s time. Otherwise our time.'),
    trace_id: is.maybe.text('4bf92f3577b34da6a3ce929d0e0e4736'),
    ...particulars,
  },
  { optional: Object.keys(particulars), title: 'TimelineEntry' },
);
const NAME_MAX = 64;

const shownMessage = shaped(message);
const shownEntry = shaped(entry);

const messageOf = (one: Message, base_url: string): Fields =>
  shownMessage({ ...one, failure: failureOf(one.error_code, base_url) });

/** A failed status in words; null without a number. */
export function failureOf(error_code: string | undefined, base_url: string): Fields | null {
  const upstream_code = Number(error_code);
  if (!Number.isInteger(upstream_code)) return null;
  const { message, code, retryable } = upstreamError({ code: upstream_code }, []);
  const advice = upstreamAdvice(upstream_code);
  return {
    upstream_code,
    message: advice?.meaning ?? message,
    action: advice?.action ?? 'See the documentation of the upstream for this code.',
    retryable,
    doc_url: `${siteOf(base_url)}/docs#${errorAnchor(code, upstream_code)}`,
  };
}

/** A record with IDs of the greatest length. */
const MESSAGE_BYTES = 1_400;
/** The service returns 1,000 entries of a timeline at most. */
const TIMELINE_BYTES = 1_000 * 512;

export const messageLog: Endpoint[] = [
  get('/messages', rpc(MessagingDefinition, 'listMessages'), {
    scope: 'filter',
    reads: 'list',
    answer_bytes: bytesOfItems(MESSAGE_BYTES),
    addition: true,
    query: object({
      phone_number_id: id('ID of a number. Only messages that it sent.'),
      message_id: wamid('Only the message with this ID.'),
      recipient: {
        ...text(RECIPIENT_MAX, 'Only messages to this phone number or BSUID.'),
        published: person,
      },
      status: choice(
        ['accepted', 'sent', 'delivered', 'read', 'failed'],
        'Only messages in this state.',
      ),
      kind: text(NAME_MAX, 'Only messages of this kind: `text`, `template`, `image` and so on.'),
      category: text(
        NAME_MAX,
        'Only messages that the upstream priced in this category: `marketing`, `utility` and so on.',
      ),
      broadcast_id: broadcastId('Only the messages of this broadcast.'),
      from: instant('Only messages sent at this time or later.'),
      to: instant('Only messages sent at this time or earlier.'),
      limit: limit(50, 200),
      cursor: nextCursor,
    }),
    reply: ({ messages, after }, { query, base_url }) => ({
      messages: messages.map((one) => messageOf(one, base_url)),
      limit: query.limit,
      ...nextPage(after),
    }),
    summary: 'List the messages you sent, newest first',
    answer: is.record({
      messages: is.list(message),
      limit: is.used_limit,
      paging: is.nextPage('MTc4ODI2'),
    }),
    codes: ['NOT_FOUND', 'NOT_CONFIGURED'],
    notes:
      'Lists what you sent through this API, so `direction` is always `outbound`. Messages that you received are in the event log: `GET /events?event=message.received`, and each has its own timeline. Messages are kept for 90 days. One page searches at most 20,000 messages, so a filter can leave a page short or empty: continue while `paging.cursors.after` is not null.',
  }),
  get('/messages/:message_id/timeline', rpc(MessagingDefinition, 'getTimeline'), {
    scope: 'filter',
    reads: 'log',
    answer_bytes: () => TIMELINE_BYTES,
    addition: true,
    query: object({
      phone_number_id: id(
        'ID of a number. Only a message that this number sent or received. Without it, all of your numbers are searched, or those of `x-waba-id`.',
      ),
    }),
    reply: ({ entries, broadcast, missing, ...found }, { base_url }) => ({
      message: messageOf(found.message as Message, base_url),
      entries: entries.map((one) =>
        shownEntry({ ...one, failure: failureOf(one.error_code, base_url) }),
      ),
      broadcast: broadcast ?? null,
      missing,
    }),
    summary: 'Retrieve what happened to a message, step by step',
    params: { message_id: is.text(MESSAGE_ID, 'ID of the message, URL-encoded.') },
    answer: is.record({
      message,
      entries: is.list(entry, 'In the order of our clock.'),
      broadcast: is.maybe.record(
        {
          broadcast_id: is.whole(42),
          name: is.text('Spring sale'),
          contact_state: is.choice(['in_flight', 'sent', 'delivered', 'failed', 'unknown']),
        },
        { description: 'The broadcast that sent the message, and the state of its contact.' },
      ),
      missing: is.list(
        is.open(['events', 'broadcast', 'attempts']),
        'Parts that could not be read now: request them again later. `attempts`: the earliest attempts are left out, because there are too many.',
      ),
    }),
    codes: ['MISSING_FIELDS', 'NOT_FOUND', 'SERVICE_UNAVAILABLE'],
    notes:
      'Also for messages that you received, and for those sent in the business app: these have events and attempts alone. With more than 10,000 numbers, such a message needs `phone_number_id` or `x-waba-id`. `GET /events/{event_id}` has the event itself and the answers of your receiver. Events are kept for 30 days, messages for 90.',
  }),
];
