// Entries of the ledger as CSV (RFC 4180). Pure.
import type { Entry } from './entry';

export const CSV_TYPE = 'text/csv; charset=utf-8; header=present';

/** In the order of the columns; new ones are added at the end. */
export const COLUMNS = [
  'message_id',
  'waba_id',
  'phone_number_id',
  'recipient',
  'kind',
  'template_name',
  'template_language',
  'sent_at',
  'status',
  'category_asked',
  'category',
  'category_changed',
  'category_changed_since',
  'billable',
  'charged',
  'pricing_model',
  'pricing_type',
  'market',
  'currency',
  'unit_price',
  'amount',
  'amount_reason',
  'check_billable',
  'billable_unlike_check',
  'late_month',
  'late_at',
] as const satisfies ReadonlyArray<keyof Entry>;

export const csvHeader = `${COLUMNS.join(',')}\r\n`;

export const csvLine = (entry: Entry): string =>
  `${COLUMNS.map((name) => cell(entry[name])).join(',')}\r\n`;

const DECIMAL = /^-?\d+(\.\d+)?$/;

function cell(value: string | boolean | null): string {
  if (value === null) return '';
  const text = String(value);
  // Spreadsheets run a text that starts like a formula.
  const safe = /^[=+\-@\t\r]/.test(text) && !DECIMAL.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
