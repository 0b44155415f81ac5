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

const UNKNOWN_CATEGORY = 'unknown';

/** The counts of a message so far. */
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

/** Adds a status. Returns the new facts and the counter changes, none for a repeated status. */
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
