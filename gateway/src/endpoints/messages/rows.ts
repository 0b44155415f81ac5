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
import { BODY_LIMITS } from '../broadcasts/rows';
import { preflightOfBroadcast, preflightOf, isBroadcast } from './preflight';
import { messageLog } from './log-rows';
import { quotedMessageId, type Quoting } from './quote';

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
    docs: docs.sendText,
    summary: 'Send a text message',
  }),
  template: post('/messages/template', rpc(MessagingDefinition, 'sendTemplate'), {
    ...sending,
    body: schemas.sendTemplate,
    request: sendRequest,
    docs: docs.sendTemplate,
    summary: 'Send a template message',
  }),
  media: post('/messages/media', rpc(MessagingDefinition, 'sendMedia'), {
    ...sending,
    body: schemas.sendMedia,
    request: sendRequest,
    docs: docs.sendMedia,
    summary: 'Send an image, video, audio, document or sticker',
  }),
  interactive: post('/messages/interactive', rpc(MessagingDefinition, 'sendInteractive'), {
    ...sending,
    body: schemas.sendInteractive,
    request: sendRequest,
    docs: docs.sendInteractive,
    summary: 'Send an interactive message: buttons, a list or products',
  }),
  location: post('/messages/location', rpc(MessagingDefinition, 'sendLocation'), {
    ...sending,
    body: schemas.sendLocation,
    request: sendRequest,
    docs: docs.sendLocation,
    summary: 'Send a location',
  }),
  contacts: post('/messages/contacts', rpc(MessagingDefinition, 'sendContacts'), {
    ...sending,
    addition: true,
    body: schemas.sendContacts,
    request: sendRequest,
    docs: docs.sendContacts,
    summary: 'Send contact cards',
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
    docs: docs.sendReaction,
    summary: 'React to a message, or remove a reaction',
  }),
};

export const messages: Endpoint[] = [
  ...Object.values(sends),
  post('/messages/read', rpc(MessagingDefinition, 'markRead'), {
    scope: 'number',
    key_scope: 'send',
    idempotent: true,
    body: schemas.markRead,
    reply: () => ({}),
    docs: docs.markRead,
    summary: 'Mark an inbound message as read',
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
    docs: docs.checkMessage,
    summary: 'Check a message or a broadcast before it is sent: outcome, price and pace',
  }),
  ...messageLog,
];
