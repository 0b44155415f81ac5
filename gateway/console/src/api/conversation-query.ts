// Reads a conversation from two logs. The event log has no filter by contact, so its latest pages are searched.
import { queryOptions } from '@tanstack/react-query';
import { conversationOf, receivedFrom, sentTo, type Turn } from '../conversation';
import { call } from './client';
import type { EventPage, MessagePage } from './types';

const DAYS = 7;
const DAY_MS = 24 * 3_600_000;
const SENT_MAX = 200;
const EVENTS_PAGE = 1_000;
/** Pages of received messages that are searched; a busier partner sees the oldest of them. */
const PAGES_MAX = 5;

export interface Read {
  turns: Turn[];
  /** Whether every event of the period was looked at. */
  complete: boolean;
}

export const conversationQuery = (phone_number_id: string, contact: string) =>
  queryOptions({
    queryKey: ['conversation', phone_number_id, contact],
    queryFn: async ({ signal }): Promise<Read> => {
      const from = new Date(Date.now() - DAYS * DAY_MS).toISOString();
      const [sent, received] = await Promise.all([
        call<MessagePage>('GET', '/v1/messages', {
          query: { phone_number_id, recipient: contact, from, limit: SENT_MAX },
          signal,
        }),
        readReceived(phone_number_id, contact, from, signal),
      ]);
      const turns = [...sent.messages.map(sentTo), ...received.turns];
      return { turns: conversationOf(turns), complete: received.complete };
    },
  });

async function readReceived(
  phone_number_id: string,
  contact: string,
  from: string,
  signal: AbortSignal,
): Promise<Read> {
  const turns: Turn[] = [];
  let after: number | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { events, next, has_more }: EventPage = await call('GET', '/v1/events', {
      query: { event: 'message.received', from, after, limit: EVENTS_PAGE },
      signal,
    });
    turns.push(...events.flatMap((event) => receivedFrom(event, contact, phone_number_id) ?? []));
    if (!has_more) return { turns, complete: true };
    after = next;
  }
  return { turns, complete: false };
}
