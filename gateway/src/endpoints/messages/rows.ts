import { BroadcastsDefinition } from '@bmg/proto/broadcasts';
import type { Node } from '@bmg/proto/common';
import { MessagingDefinition, type SendResult } from '@bmg/proto/messaging';
import * as docs from './docs';
import * as schemas from './schemas';
import { post, rpc, type Fields, type Input } from '../endpoint';
import { BODY_LIMITS } from '../broadcasts/rows';
import { checkBroadcastRequest, checkRequest, isBroadcast } from './check';
import { messageLog } from './log-rows';
import { quotedMessageId } from './quote';

/** Services know neither the aliases of `user_id` nor the three ways to quote: they are resolved here. */
export const sendRequest = ({ body, target }: Input): Fields => ({
  ...body,
  recipient: {
    to: filled(body['to']),
    user_id: filled(body['user_id']) ?? filled(body['recipient']),
  },
  quoted_message_id: quotedMessageId(body),
  target,
});

const filled = (value: unknown): unknown =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined;

/** Message send result: `messages` holds the same value as `message_id`. */
export const sendReply = (
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
  idempotent: true,
  request: sendRequest,
  reply: sendReply,
} as const;

const sends = {
  text: post('/messages/send', rpc(MessagingDefinition, 'sendText'), {
    ...sending,
    body: schemas.sendText,
    docs: docs.sendText,
    summary: 'Send a text message',
  }),
  template: post('/messages/template', rpc(MessagingDefinition, 'sendTemplate'), {
    ...sending,
    body: schemas.sendTemplate,
    docs: docs.sendTemplate,
    summary: 'Send a template message',
  }),
  media: post('/messages/media', rpc(MessagingDefinition, 'sendMedia'), {
    ...sending,
    body: schemas.sendMedia,
    docs: docs.sendMedia,
    summary: 'Send an image, video, audio, document or sticker',
  }),
  interactive: post('/messages/interactive', rpc(MessagingDefinition, 'sendInteractive'), {
    ...sending,
    body: schemas.sendInteractive,
    docs: docs.sendInteractive,
    summary: 'Send an interactive message: buttons, a list or products',
  }),
  location: post('/messages/location', rpc(MessagingDefinition, 'sendLocation'), {
    ...sending,
    body: schemas.sendLocation,
    docs: docs.sendLocation,
    summary: 'Send a location',
  }),
  reaction: post('/messages/reaction', rpc(MessagingDefinition, 'sendReaction'), {
    ...sending,
    body: schemas.sendReaction,
    // Contract 5.4: not on the reaction endpoint.
    request: ({ body, ...rest }: Input) =>
      sendRequest({
        ...rest,
        body: { ...body, context: undefined, context_message_id: undefined, reply_to: undefined },
      }),
    docs: docs.sendReaction,
    summary: 'React to a message, or remove a reaction',
  }),
};

export const messages = [
  ...Object.values(sends),
  post('/messages/read', rpc(MessagingDefinition, 'markRead'), {
    scope: 'number',
    idempotent: true,
    body: schemas.markRead,
    reply: () => ({}),
    docs: docs.markRead,
    summary: 'Mark an inbound message as read',
  }),
  post('/messages/check', rpc(MessagingDefinition, 'checkMessage'), {
    scope: 'number',
    addition: true,
    body: schemas.checkMessage,
    request: checkRequest(sends),
    reply: ({ fields }: Node) => fields ?? {},
    variant: {
      takes: isBroadcast,
      rpc: rpc(BroadcastsDefinition, 'checkBroadcast'),
      ...BODY_LIMITS,
      request: checkBroadcastRequest,
    },
    docs: docs.checkMessage,
    summary: 'Check a message or a broadcast before it is sent: outcome, price and pace',
  }),
  ...messageLog,
];
