// Which messages the upstream bills: the rules as a table, in force by date. Pure.
import { NOTICES } from '@bmg/common/notices';
import { dayOf } from '@bmg/common/time';

export type OpenState = 'open' | 'closed' | 'unknown';

/** Dates are UTC days, YYYY-MM-DD; `from` is a rule's first day, `until` the day after its last. */
interface PriceRule {
  from?: string;
  until?: string;
  /** Any category if absent. */
  categories?: readonly string[];
  /** The 24-hour customer service window; any state if absent. */
  window?: 'open' | 'closed';
  /** The 72-hour free entry point window; any state if absent. */
  entry_point?: 'open';
  billable: boolean;
  why: string;
  source: string;
}

const changeDay = (id: string): string => {
  const notice = NOTICES.find((one) => one.id === id);
  if (!notice) throw new Error(`no notice ${id}`);
  return notice.effective;
};

/** Since this day replies and utility templates in an open window are billable. */
const REPLIES_BILLABLE_FROM = changeDay('service-messages-billable-2026-10-01');

/** The first rule that matches decides. */
const PRICE_RULES: readonly PriceRule[] = [
  {
    entry_point: 'open',
    billable: false,
    why: 'a free entry point window is open: the customer came from an ad',
    source: 'contract 1.5: free entry point conversations stay free',
  },
  {
    until: REPLIES_BILLABLE_FROM,
    categories: ['service'],
    billable: false,
    why: `messages without a template are free before ${REPLIES_BILLABLE_FROM}`,
    source: 'contract 1.5: free until the change',
  },
  {
    from: REPLIES_BILLABLE_FROM,
    categories: ['service'],
    billable: true,
    why: `messages without a template are billable from ${REPLIES_BILLABLE_FROM}`,
    source: 'contract 1.5; notice service-messages-billable-2026-10-01',
  },
  {
    until: REPLIES_BILLABLE_FROM,
    categories: ['utility'],
    window: 'open',
    billable: false,
    why: `utility templates in an open window are free before ${REPLIES_BILLABLE_FROM}`,
    source: 'contract 1.5: free until the change',
  },
  {
    from: REPLIES_BILLABLE_FROM,
    categories: ['utility'],
    window: 'open',
    billable: true,
    why: `utility templates in an open window are billable from ${REPLIES_BILLABLE_FROM}`,
    source: 'contract 1.5; notice service-messages-billable-2026-10-01',
  },
  {
    categories: ['utility'],
    window: 'closed',
    billable: true,
    why: 'utility templates outside an open window are billable',
    source: 'contract 1.5: only those in an open window were free',
  },
  {
    categories: ['marketing', 'authentication'],
    billable: true,
    why: 'marketing and authentication templates are always billable',
    source: 'contract 12.3: type regular',
  },
];

export interface PriceFacts {
  category: string;
  at: Date;
  window: OpenState;
  entry_point: OpenState;
}

export interface Billing {
  /** Null if it depends on a window whose state is unknown. */
  billable: boolean | null;
  why: string;
}

export function billingOf(facts: PriceFacts): Billing {
  const outcomes = statesOf(facts.window).flatMap((window) =>
    statesOf(facts.entry_point).map((entry_point) => decide({ ...facts, window, entry_point })),
  );
  const [first] = outcomes as [Billing, ...Billing[]];
  // A window of unknown state: only an outcome that does not depend on it is certain.
  if (outcomes.every(({ billable }) => billable === first.billable)) return first;
  return { billable: null, why: 'it depends on a window whose state is not known' };
}

const statesOf = (state: OpenState): OpenState[] =>
  state === 'unknown' ? ['open', 'closed'] : [state];

function decide({ category, at, window, entry_point }: PriceFacts): Billing {
  const day = dayOf(at);
  const rule = PRICE_RULES.find(
    (one) =>
      (one.from === undefined || day >= one.from) &&
      (one.until === undefined || day < one.until) &&
      (one.categories?.includes(category) ?? true) &&
      (one.window ?? window) === window &&
      (one.entry_point ?? entry_point) === entry_point,
  );
  if (rule) return { billable: rule.billable, why: rule.why };
  return { billable: null, why: `there is no rule for the category ${category}` };
}
