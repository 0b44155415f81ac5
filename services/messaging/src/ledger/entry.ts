// An entry of the ledger as partners see it, from a message record or a late status, and as CSV.
// Pure.
import type { Billing, PriceFinder } from '../pricing';
import type { LateEntry } from './store/late';
import type { MessageRecord } from '../messages';
import { monthOf } from './months';
import { priceCharge, type PricedCharge } from './price-charge';
import { csvLine } from '@bmg/common/csv';

/** The category of a template as its account knows it, in lower case. */
export interface TemplateCategory {
  first_category: string;
  category: string;
  since: string | null;
}

interface EntryFacts {
  template?: TemplateCategory | undefined;
  preflight?: Billing | undefined;
  prices: PriceFinder | undefined;
}

type Row = Omit<MessageRecord, '_id' | 'updated_at'>;

function build(row: Row, price: PricedCharge, { template, preflight }: EntryFacts) {
  const { pricing, kind } = row;
  const category = pricing?.category ?? null;
  const category_asked = kind === 'template' ? (template?.first_category ?? null) : askedFor(kind);
  const changed = category !== null && category_asked !== null && category !== category_asked;
  const billable = pricing?.billable ?? null;
  return {
    message_id: row.message_id,
    waba_id: row.waba_id,
    phone_number_id: row.phone_number_id,
    recipient: row.recipient,
    kind,
    template_name: row.template?.name ?? null,
    template_language: row.template?.language ?? null,
    sent_at: row.sent_at.toISOString(),
    status: row.status,
    category_asked,
    category,
    category_changed: changed,
    category_changed_since: changed && template?.category === category ? template.since : null,
    billable,
    pricing_model: pricing?.model ?? null,
    pricing_type: pricing?.type ?? null,
    market: pricing?.market ?? null,
    ...price,
    /** The pre-flight's prediction for the send. */
    check_billable: preflight?.billable ?? null,
    billable_unlike_check: billable === true && preflight?.billable === false,
    /** For a late entry: the month in which the message was sent, and when the status arrived. */
    late_month: null as string | null,
    late_at: null as string | null,
  };
}

export type Entry = ReturnType<typeof build>;

/** A message without a template is a service message. */
const askedFor = (kind: string): string | null => (kind === 'unknown' ? null : 'service');

export function entryOf(record: MessageRecord, facts: EntryFacts): Entry {
  const entry = build(record, priceCharge(record, record.sent_at, facts.prices), facts);
  return record.late_since
    ? { ...entry, late_month: monthOf(record.late_since), late_at: entry.sent_at }
    : entry;
}

export const lateEntryOf = (late: LateEntry, facts: EntryFacts): Entry => ({
  ...build(late, late.price, facts),
  currency: late.currency,
  amount: late.amount,
  amount_reason:
    late.amount === null ? (late.price.amount_reason ?? 'the earlier amount is not known') : null,
  late_month: monthOf(late.sent_at),
  late_at: late.booked_at.toISOString(),
});

/** The columns of the CSV, in their order; new ones are added at the end. */
const COLUMNS = [
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
