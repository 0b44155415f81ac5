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
export function quotedMessageId({
  context,
  context_message_id,
  reply_to,
}: Quoting): string | undefined {
  const aliases = Object.entries({ context_message_id, reply_to }).filter(
    ([, alias]) => alias !== undefined && alias !== null,
  );
  for (const [field, alias] of aliases) if (typeof alias !== 'string') throw unparseable(field);
  if (context !== undefined && context !== null) {
    if (typeof context !== 'object' || Array.isArray(context)) throw unparseable('context');
    return messageId((context as Fields)['message_id'], 'context.message_id');
  }
  const [field, alias] = aliases[0] ?? [];
  return field === undefined ? undefined : messageId(alias, field);
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
    { details: { field } },
  );
