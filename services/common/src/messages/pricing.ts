// Reads the `pricing` object of a status (contract 12.3).
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
 * Reads the `pricing` object of a status. If it does not state whether the message is billable, the
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
