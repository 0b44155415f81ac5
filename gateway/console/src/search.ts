// The parameters in the address of a screen. A leaf file: the router and every screen import it.
/** The filters of every screen, kept in the address. */
export interface Search {
  period?: 'day' | 'week' | 'month' | undefined;
  status?: string | undefined;
  find?: string | undefined;
  /** The number that the screen is about: `<waba_id>/<phone_number_id>`. */
  number?: string | undefined;
  /** The item shown beside the list. */
  open?: string | undefined;
  /** The recipient of a new message. */
  to_contact?: string | undefined;
  template?: string | undefined;
  copy?: number | undefined;
  /** The country of the listed prices. */
  country?: string | undefined;
  category?: string | undefined;
  /** Filters of the request log. */
  endpoint?: string | undefined;
  key?: string | undefined;
  day?: string | undefined;
  /** Filters of the audit log: who changed something, and what was done. */
  actor?: string | undefined;
  action?: string | undefined;
  /** A period in whole UTC days. */
  from?: string | undefined;
  to?: string | undefined;
}

const PERIODS = ['day', 'week', 'month'] as const;
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== ''
    ? value
    : typeof value === 'number'
      ? String(value)
      : undefined;

export const validateSearch = (raw: Record<string, unknown>): Search => ({
  period: PERIODS.find((period) => period === raw['period']),
  status: textOf(raw['status']),
  find: textOf(raw['find']),
  number: textOf(raw['number']),
  open: textOf(raw['open']),
  to_contact: textOf(raw['to_contact']),
  template: textOf(raw['template']),
  copy: Number(raw['copy']) || undefined,
  country: textOf(raw['country']),
  category: textOf(raw['category']),
  endpoint: textOf(raw['endpoint']),
  key: textOf(raw['key']),
  day: textOf(raw['day']),
  actor: textOf(raw['actor']),
  action: textOf(raw['action']),
  from: textOf(raw['from']),
  to: textOf(raw['to']),
});
