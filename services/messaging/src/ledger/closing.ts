// Closes months: fixes their rate card, keeps their message records from changing, and stores their
// totals.
import { invalidField } from '@bmg/common/errors';
import { createPoller, type Poller } from '@bmg/common/lifecycle';
import { dayStart } from '@bmg/common/time';
import { type LedgerDay, SETTLED_AFTER_MS, type LedgerMonth } from './store/months';
import { dayEnd, daysOfMonth, monthBefore, monthDue, nextMonth, readMonth } from './months';
import { groupOfLate, priceGroup, type TotalledGroup } from './totals';
import type { Dependencies, Needs } from '../dependencies';

interface ClosingDependencies
  extends
    Needs<{
      ledgerEntries: 'allGroups';
      lateEntries: 'all';
      ledgerDays: 'put';
      rateCards: 'keepFor' | 'pricesOf';
    }>,
    Pick<Dependencies, 'ledgerMonths' | 'now' | 'log'> {
  /** A month is closed this many days after its end; 0: only by an operator. */
  close_days: number;
}

const ROUND_EVERY_MS = 60_000;
/** Message records are kept for 90 days: the first closing covers all months that have any. */
const FIRST_MONTHS = 4;

export const createClosing = (deps: ClosingDependencies): Poller =>
  createPoller('ledger closing', ROUND_EVERY_MS, () => round(deps), deps.log);

async function round(deps: ClosingDependencies): Promise<void> {
  const { ledgerMonths, close_days, now, log } = deps;
  if (close_days > 0) await beginThrough(deps, monthDue(now(), close_days));
  const settled = new Date(now().getTime() - SETTLED_AFTER_MS);
  for (const month of (await ledgerMonths.list()).reverse()) {
    if (month.status === 'closed' || month.closing_at > settled) continue;
    await storeTotals(deps, month._id);
    await ledgerMonths.finish(month._id, now());
    log.info({ month: month._id }, 'closed a month of the ledger');
  }
}

/** For the operator: closes this month and every open one before it. */
export async function closeMonth(deps: ClosingDependencies, text: string): Promise<void> {
  const month = readMonth(text, deps.now());
  const [newest] = await deps.ledgerMonths.list();
  if (newest && month <= newest._id) {
    throw invalidField('month', `is closed already: the last closed month is ${newest._id}`);
  }
  await beginThrough(deps, month, newest);
}

async function beginThrough(
  { ledgerMonths, rateCards, now }: ClosingDependencies,
  last: string,
  newest?: LedgerMonth,
): Promise<void> {
  newest ??= (await ledgerMonths.list())[0];
  let month = newest ? nextMonth(newest._id) : last;
  for (let back = 1; !newest && back < FIRST_MONTHS; back += 1) month = monthBefore(month);
  for (; month <= last; month = nextMonth(month)) {
    await rateCards.keepFor(month);
    await ledgerMonths.begin(month, now());
  }
}

/**
 * May be repeated, also by several processes at once: the records of the month no longer change.
 */
export async function storeTotals(
  deps: Pick<ClosingDependencies, 'ledgerEntries' | 'lateEntries' | 'ledgerDays' | 'rateCards'>,
  month: string,
): Promise<void> {
  const prices = await deps.rateCards.pricesOf(month);
  for (const day of daysOfMonth(month)) {
    const range = { from: dayStart(day), to: dayEnd(day) };
    const days = createDays(day);
    for (const group of await deps.ledgerEntries.allGroups(range)) {
      days.add(group, priceGroup(group, prices));
    }
    for await (const late of deps.lateEntries.all(range)) days.add(late, groupOfLate(late));
    await deps.ledgerDays.put(days.all());
  }
}

/** Collects the totals of a day by partner and account. */
function createDays(day: string) {
  const days = new Map<string, LedgerDay>();
  return {
    add({ partner_id, waba_id }: Pick<LedgerDay, 'partner_id' | 'waba_id'>, group: TotalledGroup) {
      const key = `${partner_id}/${waba_id}`;
      const found = days.get(key) ?? { partner_id, waba_id, day, groups: [] };
      found.groups.push(group);
      days.set(key, found);
    },
    all: (): LedgerDay[] => [...days.values()],
  };
}
