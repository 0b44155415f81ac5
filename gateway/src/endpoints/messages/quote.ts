// Contract 5.1: three equivalent inputs, of which `context` wins, then `context_message_id`,
// then `reply_to`. An input that cannot be parsed is INVALID_PAYLOAD, and nothing is sent.
import { ApiError } from '@bmg/common/errors';
import type { Fields } from '../endpoint';

export interface Quoting {
  context?: unknown;
  context_message_id?: unknown;
  reply_to?: unknown;
}

const MESSAGE_ID_MAX = 512;

/** The quoted message's id; undefined without a quote. */
export function quotedMessageId(body: Quoting): string | undefined {
  const { context, context_message_id, reply_to } = body;
  for (const [field, alias] of Object.entries({ context_message_id, reply_to })) {
    if (alias !== undefined && alias !== null && typeof alias !== 'string') {
      throw unparseable(field);
    }
  }
  if (context !== undefined && context !== null) {
    if (typeof context !== 'object' || Array.isArray(context)) throw unparseable('context');
    return messageId((context as Fields)['message_id'], 'context.message_id');
  }
  if (context_message_id !== undefined && context_message_id !== null) {
    return messageId(context_message_id, 'context_message_id');
  }
  if (reply_to !== undefined && reply_to !== null) return messageId(reply_to, 'reply_to');
  return undefined;
}

function messageId(value: unknown, field: string): string {
  if (typeof value !== 'string' || value.trim() === '' || value.length > MESSAGE_ID_MAX) {
    throw unparseable(field);
  }
  return value;
}

const unparseable = (field: string): ApiError =>
  new ApiError(
    'INVALID_PAYLOAD',
    `${field} does not identify a message: send a message_id as a string`,
    {
      details: { field },
    },
  );
