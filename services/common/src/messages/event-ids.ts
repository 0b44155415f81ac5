// The ids of events. An id follows from the occurrence that the event reports and from its partner, so
// that the events of a message are found by their ids, without an index of messages.
import { contentId } from '../ids';
import { MESSAGE_STATUSES } from './statuses';

/** Occurrences that a message has at most once; each kind has a key space of its own. */
const OF_MESSAGE = [
  'message',
  'echo',
  'standby_message',
  'standby_echo',
  'history',
  'history_media',
] as const;
const OF_STATUS = ['status', 'standby_status'] as const;

/** The occurrence key: equal whenever the upstream repeats a webhook. */
export function occurrence(space: string, ...parts: readonly (string | number | null)[]): string {
  let key = space;
  for (const part of parts) key += `|${part === null ? '' : escapePart(part)}`;
  return key;
}

export const eventIdOf = (key: string, partner_id: string): string =>
  contentId('evt', key, partner_id);

/**
 * The ids that a partner's events of one message may have. In a group, the statuses of each of the
 * participants have ids of their own.
 */
export function eventIdsOfMessage(
  partner_id: string,
  { phone_number_id, message_id }: { phone_number_id: string; message_id: string },
  participants: readonly string[] = [],
): string[] {
  const message = [phone_number_id, message_id] as const;
  const statuses = OF_STATUS.flatMap((space) =>
    MESSAGE_STATUSES.map((status) => [space, ...message, status] as const),
  );
  const keys = [
    ...OF_MESSAGE.map((space) => occurrence(space, ...message)),
    ...statuses.map((parts) => occurrence(...parts)),
    ...participants.flatMap((one) => statuses.map((parts) => occurrence(...parts, one))),
  ];
  return keys.map((key) => eventIdOf(key, partner_id));
}

/** Escapes the separator, so that ids containing it cannot make two keys equal. */
function escapePart(part: string | number): string {
  const text = typeof part === 'number' ? String(part) : part;
  if (!text.includes('|') && !text.includes('%')) return text;
  return text.replace(/[%|]/g, encodeURIComponent);
}
