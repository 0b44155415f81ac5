// Reads values whose types upstream does not guarantee: ids as numbers, numbers as strings, a
// single object instead of a list. No function of this file throws.
import { isLosslessNumber } from 'lossless-json';

export type JsonObject = Readonly<Record<string, unknown>>;

/** Later than any real time in seconds: larger values are milliseconds. */
const SECONDS_MAX = 100_000_000_000;

const DIGITS = /^\d+$/;
const WHOLE_NUMBER = /^-?\d+$/;
const PHONE = /^\+?[\d\s().-]+$/;

export function isObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value)
  );
}

export function objectOf(value: unknown): JsonObject | null {
  return isObject(value) ? value : null;
}

/** A list unchanged, null or undefined as an empty list, any other value as a list of one. */
export function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}

/** An identifier or code: text, or a whole number in its exact digits; null when there is none. */
export function toText(value: unknown): string | null {
  if (typeof value === 'string') return value === '' ? null : value;
  if (typeof value === 'number') return Number.isInteger(value) ? exactDigits(value) : null;
  if (isLosslessNumber(value)) return WHOLE_NUMBER.test(value.value) ? value.value : null;
  return null;
}

export function toNumber(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  const text = isLosslessNumber(value) ? value.value : value;
  if (typeof text !== 'string' || text.trim() === '') return null;
  const number = Number(text);
  return Number.isFinite(number) ? number : null;
}

/** Human text; unlike in `toText`, an empty string stays an empty string. */
export function stringOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Whole epoch seconds, or null for a value that cannot be a time. */
export function toEpoch(value: unknown): number | null {
  const number = toNumber(value);
  if (number === null || number < 1) return null;
  const seconds = Math.floor(number >= SECONDS_MAX ? number / 1000 : number);
  return seconds < SECONDS_MAX ? seconds : null;
}

/**
 * Normalises the other side of a conversation. Only a phone number is reduced to its digits; a
 * BSUID stays unchanged.
 */
export function toContact(value: string | null): string | null {
  if (value === null || DIGITS.test(value)) return value;
  if (!PHONE.test(value)) return value;
  const digits = value.replace(/\D/g, '');
  return digits === '' ? null : digits;
}

/** The digits of a phone number in any notation; null for other values. */
export function toDigits(value: unknown): string | null {
  const text = toText(value);
  return text !== null && PHONE.test(text) ? toContact(text) : null;
}

/** Sets a property unless the value is null. Spreading would be ten times as slow. */
export function setIfGiven(
  data: Record<string, unknown>,
  key: string,
  value: string | number | object | null,
): void {
  if (value !== null) data[key] = value;
}

/** `String` would print numbers of 22 digits and more with an exponent. */
function exactDigits(value: number): string {
  return Number.isSafeInteger(value) ? String(value) : BigInt(value).toString();
}

export interface Entry {
  readonly id: string | null;
  readonly time: number | null;
}

/** The account and number that a value concerns. */
export interface Place {
  readonly waba_id: string;
  readonly phone_number_id: string | null;
  /** The number's digits, also when its id is known. */
  readonly digits: string | null;
  /** The number's id, else its digits, else the account. Part of every occurrence key. */
  readonly key: string;
}

/** Keys that frame the lists of a value. */
export const VALUE_FRAME: ReadonlySet<string> = new Set([
  'messaging_product',
  'metadata',
  'contacts',
  'field',
]);

/** Some upstream samples hold the field's name inside the value. */
export function fieldOf(change: JsonObject): string | null {
  return toText(change.field) ?? (isObject(change.value) ? toText(change.value.field) : null);
}

/**
 * Handovers lack `metadata` and name the number in `recipient`, settings in
 * `phone_number_settings`, and number fields in the value itself.
 */
export function placeOf(value: JsonObject, entry: Pick<Entry, 'id'>): Place {
  const named =
    objectOf(value.metadata) ??
    objectOf(value.recipient) ??
    objectOf(value.phone_number_settings) ??
    value;
  const info = value.waba_info;
  const waba_id = (isObject(info) ? toText(info.waba_id) : null) ?? entry.id ?? '';
  const phone_number_id = toText(named.phone_number_id);
  const digits = toDigits(named.display_phone_number);
  return { waba_id, phone_number_id, digits, key: phone_number_id ?? digits ?? waba_id };
}
