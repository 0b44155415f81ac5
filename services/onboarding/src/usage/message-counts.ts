// Turns the statuses of one message into counter changes. Each status counts once, however often it
// is repeated, in the category that the upstream's pricing names. Only some statuses carry pricing:
// once it arrives, earlier counts move from `unknown` to the category. No I/O.
import type { MessageStatus } from '@bmg/common/messages';

export type CountedField = MessageStatus | 'billable' | 'free';

export const COUNTED_FIELDS: readonly CountedField[] = [
  'sent',
  'delivered',
  'read',
  'failed',
  'billable',
  'free',
];

export const UNKNOWN_CATEGORY = 'unknown';

/** What has been counted of a message so far. */
export interface MessageFacts {
  /** The day on which each status was counted. */
  seen: Partial<Record<CountedField, string>>;
  category: string | null;
  billable: boolean | null;
}

export interface StatusFacts {
  status: MessageStatus;
  /** UTC day of the status. */
  day: string;
  category: string | null;
  billable: boolean | null;
}

/** One change of one counter. */
export interface Step {
  day: string;
  category: string;
  field: CountedField;
  by: 1 | -1;
}

/** A message of which nothing has been counted. */
export const nothingKnown = (): MessageFacts => ({ seen: {}, category: null, billable: null });

/** Adds a status. Answers the new facts and the counter changes, none for a repeated status. */
export function countStatus(
  known: MessageFacts,
  { status, day, category, billable }: StatusFacts,
): { facts: MessageFacts; steps: Step[] } {
  const facts: MessageFacts = {
    seen: { ...known.seen },
    category: known.category ?? category,
    billable: known.billable ?? billable,
  };
  const steps: Step[] = [];
  const counted = facts.category ?? UNKNOWN_CATEGORY;
  if (known.category === null && facts.category !== null) {
    for (const [field, on] of Object.entries(known.seen) as Array<[CountedField, string]>) {
      steps.push({ day: on, category: UNKNOWN_CATEGORY, field, by: -1 });
      steps.push({ day: on, category: counted, field, by: 1 });
    }
  }
  const count = (field: CountedField): void => {
    if (facts.seen[field] !== undefined) return;
    facts.seen[field] = day;
    steps.push({ day, category: counted, field, by: 1 });
  };
  count(status);
  // A message is charged once, on delivery. Some reads arrive without an earlier delivery.
  const arrived = facts.seen.delivered !== undefined || facts.seen.read !== undefined;
  const charged = facts.seen.billable !== undefined || facts.seen.free !== undefined;
  if (arrived && !charged && facts.billable !== null) count(facts.billable ? 'billable' : 'free');
  return { facts, steps };
}

interface Pricing {
  category?: unknown;
  billable?: unknown;
  type?: unknown;
}

/**
 * Reads the `pricing` object of a status. Where it does not say whether the message is billable,
 * the pricing type decides, by the rules of the day (YYYY-MM-DD).
 */
export function readPricing(
  pricing: unknown,
  day: string,
): Pick<StatusFacts, 'category' | 'billable'> {
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
