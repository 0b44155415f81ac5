// The statuses of a sent message, their order and their pricing. They arrive repeated and in any
// order, so a recorded status changes only to a higher one: sent < delivered < read, and failed is
// final. Two places apply the order: fan-out's memory for the event, and messaging's store for the
// record.

/** Lowest first. Ranks are stored in Redis: add new ones at the end only. */
export const MESSAGE_STATUSES = ['sent', 'delivered', 'read', 'failed'] as const;

export type MessageStatus = (typeof MESSAGE_STATUSES)[number];
export type StatusEvent = `message.${MessageStatus}`;

const EVENTS = new Map<string, StatusEvent>(
  MESSAGE_STATUSES.map((status) => [status, `message.${status}`]),
);
const STATUSES = new Map<string, MessageStatus>(
  MESSAGE_STATUSES.map((status) => [`message.${status}`, status]),
);

export const statusRank = (status: MessageStatus): number => MESSAGE_STATUSES.indexOf(status);

export const statusesBelow = (status: MessageStatus): readonly MessageStatus[] =>
  MESSAGE_STATUSES.slice(0, statusRank(status));

/** `message.read` for the upstream's `read`; undefined for a status that has no event. */
export const eventOfStatus = (status: string): StatusEvent | undefined => EVENTS.get(status);

/** `read` for the event `message.read`; undefined for an event that is not a message's status. */
export const statusOfEvent = (event: string): MessageStatus | undefined => STATUSES.get(event);

export interface StatusPricing {
  category: string | null;
  billable: boolean | null;
}

interface Pricing {
  category?: unknown;
  billable?: unknown;
  type?: unknown;
}

/**
 * Reads the `pricing` object of a status (contract 12.3). If it does not state whether the message is billable, the
 * pricing type decides, by the rules of that day (YYYY-MM-DD).
 */
export function readPricing(pricing: unknown, day: string): StatusPricing {
  const { category, billable, type } = (pricing ?? {}) as Pricing;
  return {
    category: typeof category === 'string' && category !== '' ? category : null,
    billable: typeof billable === 'boolean' ? billable : billableByType(type, day),
  };
}

/** From this UTC day on, replies and utility templates inside the 24-hour window are billable. */
export const WINDOW_BILLABLE_FROM = '2026-10-01';

function billableByType(type: unknown, day: string): boolean | null {
  if (typeof type !== 'string') return null;
  if (type === 'free_customer_service') return day >= WINDOW_BILLABLE_FROM;
  if (type.startsWith('free_')) return false;
  return type === 'regular' ? true : null;
}
