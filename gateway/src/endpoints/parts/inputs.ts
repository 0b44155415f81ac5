// The pieces that schemas are made of.
import { RECIPIENT_MISSING } from '@bmg/common/messages';
import type { Schema } from './schema';

/** Upstream ids: no slashes, dots or spaces, so that an id cannot reach another path. */
const ID_PATTERN = '^[A-Za-z0-9_-]{1,64}$';

export const text = (maxLength: number, description?: string): Schema => ({
  type: 'string',
  maxLength,
  ...(description && { description }),
});

export const id = (description: string): Schema => ({
  type: 'string',
  pattern: ID_PATTERN,
  errorMessage: 'must be an id: letters, digits, dashes and underscores, at most 64',
  description,
});

export const wamid = (description: string): Schema => text(512, description);

export const object = (properties: Record<string, Schema>, required: string[] = []): Schema => ({
  type: 'object',
  properties,
  required,
});

export const limit = (fallback: number | undefined, lowerTo: number): Schema => ({
  type: 'integer',
  minimum: 1,
  maximum: lowerTo,
  lowerTo,
  ...(fallback !== undefined && { default: fallback }),
  description: `page size, at most ${lowerTo}; a larger one is lowered`,
});

export const offset: Schema = {
  type: 'integer',
  minimum: 0,
  default: 0,
  description: 'how many to pass over',
};

/** Recipient rules: at least one of three; the service decides who wins. */
export const withRecipient = (properties: Record<string, Schema>, required: string[]): Schema => ({
  type: 'object',
  properties: {
    to: text(200, 'phone number in international format, or a BSUID'),
    user_id: text(200, 'BSUID'),
    recipient: text(200, 'BSUID, alias of user_id'),
    ...properties,
  },
  required,
  requiredOneOf: ['to', 'user_id', 'recipient'],
  requiredOneOfMessage: RECIPIENT_MISSING,
});

/** The three spellings of a quote; what is in them is checked by the quote rule, not here. */
export const quote: Record<string, Schema> = {
  context: { description: 'quoted reply: {message_id}; wins over the two aliases' },
  context_message_id: { description: 'quoted reply: the message_id' },
  reply_to: { description: 'quoted reply: the message_id' },
};
