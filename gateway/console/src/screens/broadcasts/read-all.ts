// Every message that a broadcast sent, page by page, up to a bound.
import { call } from '../../api/client';
import type { MessageFilter } from '../../api/queries';
import type { Message, MessagePage } from '../../api/types';
import { recipientsOf } from './recipients-of';

/** A file of more recipients would take the browser long. */
export const READ_MAX = 10_000;
const PAGE = 200;

export async function readAll(filter: MessageFilter): Promise<Message[]> {
  const messages: Message[] = [];
  let cursor: string | undefined;
  do {
    const page: MessagePage = await call('GET', '/v1/messages', {
      query: { ...filter, limit: PAGE, cursor },
    });
    messages.push(...page.messages);
    cursor = page.paging.cursors.after ?? undefined;
  } while (cursor !== undefined && messages.length < READ_MAX);
  return recipientsOf(messages);
}
