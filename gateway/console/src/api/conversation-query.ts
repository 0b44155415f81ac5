// Reads a conversation from two logs. A later read of the event log goes on where the one before
// ended.
import { queryOptions } from '@tanstack/react-query';
import { conversationOf, receivedFrom, sentTo, type Turn } from '../conversation';
import { call, type NumberRef } from './client';
import type { EventPage, MessagePage } from './types';

const DAYS = 7;
const DAY_MS = 24 * 3_600_000;
const SENT_MAX = 200;
const EVENTS_PAGE = 1_000;
/**
 * A page searches some thousand events. For a busier partner, the next read continues the search.
 */
const PAGES_MAX = 20;

interface Received {
  turns: Turn[];
  /** Position up to which the event log was read. */
  after: number | undefined;
  /** True if every event of the period was read. */
  complete: boolean;
}

export interface Read {
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
