// The parameters in the address of a screen. A leaf file: the router and every screen import it.
import { PERIODS, type Period } from './period';

/** The filters that are texts. */
const TEXTS = [
  'status',
  'find',
  // The number that the screen is about.
  'number',
  // The item shown beside the list.
  'open',
  // The recipient of a new message.
  'to_contact',
  // The listed prices.
  'country',
  'category',
  'day',
  // The request log.
  'endpoint',
  'key',
  // The audit log: who changed something, and what was done.
  'actor',
  'action',
  // A period in whole UTC days.
  'from',
  'to',
] as const;
export type TextFilter = (typeof TEXTS)[number];

/** The filters of every screen, kept in the address. */
export interface Search extends Partial<Record<TextFilter, string | undefined>> {
  period?: Period | undefined;
  /** The broadcast that a new one copies. */
  copy?: number | undefined;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) || undefined : undefined;

export const validateSearch = (raw: Record<string, unknown>): Search => ({
  ...Object.fromEntries(TEXTS.map((name) => [name, textOf(raw[name])])),
  period: PERIODS.find(({ value }) => value === raw['period'])?.value,
  copy: Number(raw['copy']) || undefined,
});
