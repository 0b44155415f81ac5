// Billing slots: what a month costs (contract 1.6). A slot covers up to three
// business accounts. The month's peak of simultaneously active accounts decides how many are
// billed, so registering the same account again, or a second number of it, costs nothing.

export const WABAS_PER_SLOT = 3;
export const SLOT_CENTS = 1_000;

/** Accounts active in a UTC month: the most at once, and after the last change. */
interface MonthCount {
  peak: number;
  last: number;
}

export type MonthCounts = Record<string, MonthCount>;

export interface Bill {
  slots: number;
  peak_active_wabas: number;
  fee_cents: number;
}

/** The UTC calendar month, YYYY-MM. */
export const monthOf = (at: Date): string => at.toISOString().slice(0, 7);

export const slotsFor = (wabas: number): number => Math.ceil(wabas / WABAS_PER_SLOT);

/** The month's peak. A month without a change has the last count of the one before. */
export function peakOf(counts: MonthCounts, month: string): number {
  const own = counts[month];
  if (own) return own.peak;
  const earlier = Object.keys(counts)
    .filter((one) => one < month)
    .sort()
    .at(-1);
  return earlier === undefined ? 0 : (counts[earlier]?.last ?? 0);
}

/** The month's count after the number of active accounts changed from `before` to `after`. */
export function noteChange(
  counts: MonthCounts,
  month: string,
  { before, after }: { before: number; after: number },
): MonthCount {
  // Accounts active before the month's first change were active on its first day.
  return { peak: Math.max(peakOf(counts, month), before, after), last: after };
}

export function billOf(counts: MonthCounts, month: string): Bill {
  const peak_active_wabas = peakOf(counts, month);
  const slots = slotsFor(peak_active_wabas);
  return { slots, peak_active_wabas, fee_cents: slots * SLOT_CENTS };
}
