// The statuses of a sent message and their order. They arrive repeated and in any order, so a
// recorded status changes only to a higher one: sent < delivered < read, and failed is final. Two
// places apply it: fan-out's memory for the event, and messaging's store for the record.

/** Lowest first. Ranks are stored in Redis: add new ones at the end only. */
export const MESSAGE_STATUSES = ['sent', 'delivered', 'read', 'failed'] as const;

export type MessageStatus = (typeof MESSAGE_STATUSES)[number];
export type StatusEvent = `message.${MessageStatus}`;

const RANKS = new Map(MESSAGE_STATUSES.map((status, rank) => [status, rank]));
const LOWER = new Map(
  MESSAGE_STATUSES.map((status, rank) => [status, MESSAGE_STATUSES.slice(0, rank)]),
);
const EVENTS = new Map<string, StatusEvent>(
  MESSAGE_STATUSES.map((status) => [status, `message.${status}`]),
);
const STATUSES = new Map<string, MessageStatus>(
  MESSAGE_STATUSES.map((status) => [`message.${status}`, status]),
);

export const statusRank = (status: MessageStatus): number => RANKS.get(status) as number;

export const statusesBelow = (status: MessageStatus): readonly MessageStatus[] =>
  LOWER.get(status) as MessageStatus[];

/** `message.read` for the upstream's `read`; undefined for a status that has no event. */
export const eventOfStatus = (status: string): StatusEvent | undefined => EVENTS.get(status);

/** `read` for the event `message.read`; undefined for an event that is not a message's status. */
export const statusOfEvent = (event: string): MessageStatus | undefined => STATUSES.get(event);
