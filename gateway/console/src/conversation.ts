// One contact's conversation with a number: what was sent, from the message log, and what was
// received, from the event log. Texts only if the operator has them shown.
import { queryOptions } from '@tanstack/react-query';
import { call, type NumberRef } from './api/client';
import type { EventPage, LoggedEvent, Message, MessagePage } from './api/types';
import { DAY_MS } from './period';

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

const DAYS = 7;
const SENT_MAX = 200;
const EVENTS_PAGE = 1_000;
/**
 * A page searches some thousand events. For a busier partner, the next read continues the search.
 */
const PAGES_MAX = 20;

/** A later read of the event log goes on where the one before ended. */
interface Received {
  turns: Turn[];
  /** Position up to which the event log was read. */
  after: number | undefined;
  /** True if every event of the period was read. */
  complete: boolean;
}

interface Read {
  turns: Turn[];
  received: Received;
}

const NOTHING: Received = { turns: [], after: undefined, complete: false };

export const conversationQuery = (
  { waba_id, phone_number_id }: NumberRef,
  contact: string,
  shows_texts: boolean,
) =>
  queryOptions({
    queryKey: ['conversation', phone_number_id, contact, shows_texts],
    queryFn: async ({ signal, client, queryKey }): Promise<Read> => {
      const from = new Date(Date.now() - DAYS * DAY_MS).toISOString();
      const before = client.getQueryData<Read>(queryKey)?.received ?? NOTHING;
      const [sent, received] = await Promise.all([
        call<MessagePage>('GET', '/v1/messages', {
          query: { phone_number_id, recipient: contact, from, limit: SENT_MAX },
          signal,
        }),
        readReceived({ waba_id, phone_number_id }, { contact, from, shows_texts }, before, signal),
      ]);
      return { turns: conversationOf([...sent.messages.map(sentTo), ...received.turns]), received };
    },
  });

async function readReceived(
  number: NumberRef,
  { contact, from, shows_texts }: { contact: string; from: string; shows_texts: boolean },
  before: Received,
  signal: AbortSignal,
): Promise<Received> {
  const turns = before.turns.filter(({ at }) => at >= from);
  let { after } = before;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { events, next, has_more }: EventPage = await call('GET', '/v1/events', {
      query: { event: 'message.received', contact, from, after, limit: EVENTS_PAGE },
      number,
      signal,
    });
    turns.push(
      ...events.flatMap((event) => receivedFrom(event, number.phone_number_id, shows_texts) ?? []),
    );
    after = next;
    if (!has_more) return { turns, after, complete: true };
  }
  return { turns, after, complete: false };
}
