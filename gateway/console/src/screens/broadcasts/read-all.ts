// Every message that a broadcast sent, page by page.
import { call } from '../../api/client';
import type { Message, MessagePage } from '../../api/types';

/** The most contacts that a broadcast can have. */
const READ_MAX = 10_000;
const PAGE = 200;

export async function readAll(broadcast_id: number, status?: string): Promise<Message[]> {
  const messages: Message[] = [];
  let cursor: string | undefined;
  do {
    const page: MessagePage = await call('GET', '/v1/messages', {
      query: { broadcast_id, status, limit: PAGE, cursor },
    });
    messages.push(...page.messages);
    cursor = page.paging.cursors.after ?? undefined;
  } while (cursor !== undefined && messages.length < READ_MAX);
  return messages;
}
