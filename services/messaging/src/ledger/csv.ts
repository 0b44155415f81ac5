// Entries of the ledger as CSV. Pure.
import { csvLine } from '@bmg/common/csv';
import type { Entry } from './entry';

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

export const csvHeader = csvLine(COLUMNS);

export const entryLine = (entry: Entry): string => csvLine(COLUMNS.map((name) => entry[name]));
