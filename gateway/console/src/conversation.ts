// One contact's conversation with a number: what was sent, from the message log, and what was
// received, from the event log. Texts only if the operator has them shown. Pure.
import type { LoggedEvent, Message } from './api/types';

export interface Turn {
  message_id: string;
  direction: 'outbound' | 'inbound';
  /** `text`, `template`, `image` … */
  kind: string;
  /** The status of a sent message. */
  status: string | null;
  at: string;
  cost: Message['cost'];
  /** The text of a received message, if the operator has texts shown. */
  text?: string;
}

/** Returns the form of the logs: digits without a plus sign, or an unchanged BSUID. */
export function contactOf(text: string): string {
  const trimmed = text.trim();
  return /^\+?[\d\s().-]+$/.test(trimmed) ? trimmed.replaceAll(/\D/g, '') : trimmed;
}

/** A received message of the contact; undefined if another number of the account received it. */
export function receivedFrom(
  { envelope, logged_at }: Pick<LoggedEvent, 'envelope' | 'logged_at'>,
  phone_number_id: string,
  shows_texts = false,
): Turn | undefined {
  const { message_id, type, text } = envelope.data ?? {};
  if (envelope.phone_number_id !== phone_number_id) return undefined;
  return {
    message_id: String(message_id),
    direction: 'inbound',
    kind: typeof type === 'string' ? type : 'unknown',
    status: null,
    at: logged_at,
    cost: null,
    ...(shows_texts && typeof text === 'string' && { text }),
  };
}

export const sentTo = (message: Message): Turn => ({
  message_id: message.message_id,
  direction: 'outbound',
  kind: message.kind,
  status: message.status,
  at: message.at,
  cost: message.cost,
});

/** The oldest first, as people read a conversation; each message once. */
export const conversationOf = (turns: readonly Turn[]): Turn[] =>
  [...new Map(turns.map((turn) => [turn.message_id, turn])).values()].sort((one, other) =>
    one.at.localeCompare(other.at),
  );
