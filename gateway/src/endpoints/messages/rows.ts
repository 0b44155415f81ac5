import { BroadcastsDefinition } from '@bmg/proto/broadcasts';
import { MessagingDefinition, type SendResult } from '@bmg/proto/messaging';
import * as docs from './docs';
import * as schemas from './schemas';
import {
  post,
  rpc,
  variant,
  type Endpoint,
  type Fields,
  type Input,
  type Target,
} from '../endpoint';
import { preflightOfBroadcast, preflightOf, isBroadcast } from './preflight';
import { messageLog } from './log-rows';
import { quotedMessageId, type Quoting } from './quote';
import { BODY_LIMITS } from '../broadcasts/rows';
import * as is from '../parts/answers';

interface Addressed {
  to?: string;
  user_id?: string;
  recipient?: string;
}

/**
 * Services know neither the aliases of `user_id` nor the three ways to quote: they are resolved
 * here.
 */
const sendRequest = <B extends Addressed & Quoting>({
  body: { to, user_id, recipient, context, context_message_id, reply_to, ...content },
  target,
}: {
  body: B;
  target: Target;
}) => ({
  ...content,
  recipient: recipientOf({ to, user_id, recipient }),
  quoted_message_id: quotedMessageId({ context, context_message_id, reply_to }),
  target,
});

const recipientOf = ({
  to,
  user_id,
  recipient,
}: { [K in keyof Addressed]: string | undefined }) => ({
  to: filled(to),
  user_id: filled(user_id) ?? filled(recipient),
});

const filled = (value: string | undefined): string | undefined =>
  value?.trim() === '' ? undefined : value;

/** Message send result: `messages` holds the same value as `message_id`. */
const sendReply = (
  { message_id, message_status, contacts }: SendResult,
  { base_url }: Pick<Input, 'base_url'>,
): Fields => ({
  message_id,
  messages: [{ id: message_id }],
  contacts,
  ...(message_status !== undefined && { message_status }),
  timeline_url: `${base_url}/messages/${encodeURIComponent(message_id)}/timeline`,
});

const sending = {
  scope: 'number',
  key_scope: 'send',
  idempotent: true,
  reply: sendReply,
} as const;

const sends: Readonly<Record<string, Endpoint>> = {
  text: post('/messages/send', rpc(MessagingDefinition, 'sendText'), {
    ...sending,
    body: schemas.sendText,
    request: sendRequest,
    summary: 'Send a text message',
    ...docs.sent({ to: '15550100777', text: 'Your order is on its way.' }),
  }),
  template: post('/messages/template', rpc(MessagingDefinition, 'sendTemplate'), {
    ...sending,
    body: schemas.sendTemplate,
    request: sendRequest,
    summary: 'Send a template message',
    ...docs.sent({
      to: '15550100777',
      template: {
        name: 'order_update',
        language: 'en_US',
        components: [
          {
            type: 'body',
            parameters: [
              { type: 'text', text: 'Ada' },
              { type: 'text', text: '4711' },
            ],
          },
        ],
      },
    }),
    codes: [...docs.SEND_CODES, 'AUTH_TEMPLATE_NEEDS_PHONE'],
  }),
  media: post('/messages/media', rpc(MessagingDefinition, 'sendMedia'), {
    ...sending,
    body: schemas.sendMedia,
    request: sendRequest,
    summary: 'Send an image, video, audio, document or sticker',
    ...docs.sent({
      to: '15550100777',
      type: 'image',
      media: { link: 'https://example.com/plant.jpg', caption: 'A plant' },
    }),
  }),
  interactive: post('/messages/interactive', rpc(MessagingDefinition, 'sendInteractive'), {
    ...sending,
    body: schemas.sendInteractive,
    request: sendRequest,
    summary: 'Send an interactive message: buttons, a list or products',
    ...docs.sent({
      to: '15550100777',
      interactive: {
        type: 'button',
        body: { text: 'Shall we deliver on Monday?' },
        action: {
          buttons: [
            { type: 'reply', reply: { id: 'yes', title: 'Yes' } },
            { type: 'reply', reply: { id: 'no', title: 'No' } },
          ],
        },
      },
    }),
  }),
  location: post('/messages/location', rpc(MessagingDefinition, 'sendLocation'), {
    ...sending,
    body: schemas.sendLocation,
    request: sendRequest,
    summary: 'Send a location',
    ...docs.sent({
      to: '15550100777',
      latitude: 52.5163,
      longitude: 13.3777,
      name: 'Our shop',
      address: '1 Example Street',
    }),
  }),
  contacts: post('/messages/contacts', rpc(MessagingDefinition, 'sendContacts'), {
    ...sending,
    addition: true,
    body: schemas.sendContacts,
    request: sendRequest,
    summary: 'Send contact cards',
    ...docs.sent({
      to: '15550100777',
      contacts: [
        {
          name: { formatted_name: 'Bo Berg', first_name: 'Bo' },
          phones: [{ phone: '+1 555-010-0999', type: 'WORK' }],
        },
      ],
    }),
  }),
  reaction: post('/messages/reaction', rpc(MessagingDefinition, 'sendReaction'), {
    ...sending,
    body: schemas.sendReaction,
    // Contract 5.4: not on the reaction endpoint.
    request: ({ body: { message_id, emoji, ...addressed }, target }) => ({
      message_id,
      emoji,
      recipient: recipientOf(addressed),
      target,
    }),
    summary: 'React to a message, or remove a reaction',
    ...docs.sent({
      to: '15550100777',
      message_id: 'wamid.HBgLMTU1NTAxMDA3NzcVAgASGBQ',
      emoji: '👍',
    }),
  }),
};

export const messages: Endpoint[] = [
  ...Object.values(sends),
  post('/messages/read', rpc(MessagingDefinition, 'markRead'), {
    scope: 'number',
    key_scope: 'send',
    idempotent: true,
    body: schemas.markRead,
    summary: 'Mark an inbound message as read',
    answer: is.nothing,
    example: {
      message_id: 'wamid.HBgLMTU1NTAxMDA3NzcVAgASGBQ',
      typing_indicator: { type: 'text' },
    },
    codes: docs.SEND_CODES,
    notes:
      'The contact sees the message, and the earlier ones of the chat, as read. With `typing_indicator` the chat shows that you are writing, until you reply or for 25 seconds.',
  }),
  post('/messages/check', rpc(MessagingDefinition, 'checkMessage'), {
    scope: 'number',
    key_scope: 'send',
    addition: true,
    body: schemas.checkMessage,
    request: preflightOf(sends),
    reply: ({ fields }) => fields ?? {},
    variant: variant(rpc(BroadcastsDefinition, 'checkBroadcast'), {
      takes: isBroadcast,
      ...BODY_LIMITS,
      request: preflightOfBroadcast,
      reply: ({ fields }) => fields ?? {},
    }),
    ...docs.checkMessage,
    summary: 'Check a message or a broadcast before it is sent: outcome, price and pace',
  }),
  ...messageLog,
];
