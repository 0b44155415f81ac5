import { object, quote, text, wamid, withRecipient } from '../parts/inputs';

/** The upstream's own limit of a text body. */
const TEXT_MAX = 4_096;

export const sendText = withRecipient(
  { text: text(TEXT_MAX, 'the message'), preview_url: { type: 'boolean' }, ...quote },
  ['text'],
);

export const sendTemplate = withRecipient(
  {
    template: object(
      {
        name: text(512, 'the template’s name'),
        language: text(20, 'language code such as en_US'),
        components: { type: 'array', items: { type: 'object' } },
      },
      ['name', 'language'],
    ),
    ...quote,
  },
  ['template'],
);

export const sendMedia = withRecipient(
  {
    type: { type: 'string', enum: ['image', 'video', 'audio', 'document', 'sticker'] },
    media: {
      type: 'object',
      description: '{id} or {link}, with caption and filename where allowed',
    },
    ...quote,
  },
  ['type', 'media'],
);

export const sendInteractive = withRecipient(
  { interactive: { type: 'object', description: 'passed on unchanged' }, ...quote },
  ['interactive'],
);

export const sendLocation = withRecipient(
  {
    latitude: { type: 'number', minimum: -90, maximum: 90 },
    longitude: { type: 'number', minimum: -180, maximum: 180 },
    name: text(1_000),
    address: text(1_000),
    ...quote,
  },
  ['latitude', 'longitude'],
);

export const sendReaction = withRecipient(
  {
    message_id: wamid('the message that is reacted to'),
    emoji: {
      type: 'string',
      maxLength: 64,
      mayBeBlank: true,
      description: 'empty takes the reaction back',
    },
  },
  ['message_id', 'emoji'],
);

export const markRead = object({ message_id: wamid('an inbound message') }, ['message_id']);
