// Reading values whose types upstream does not promise: ids as numbers, numbers as strings, a lone
// object where a list should be. Nothing here throws.

import { isLosslessNumber } from 'lossless-json';

export type JsonObject = Readonly<Record<string, unknown>>;

/** Later than any real time in seconds; what lies above counts in milliseconds. */
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

/** A list as it is, nothing as no items, anything else as a list of one. */
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

/** Human text, where the empty string means something. */
export function stringOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Whole epoch seconds, or null for what cannot be a time. */
export function toEpoch(value: unknown): number | null {
  const number = toNumber(value);
  if (number === null || number < 1) return null;
  const seconds = Math.floor(number >= SECONDS_MAX ? number / 1000 : number);
  return seconds < SECONDS_MAX ? seconds : null;
}

/**
 * One spelling of the other side of a conversation. Only what reads as a phone number is reduced to
 * digits. BSUID: never to be digit-normalised.
 */
export function toContact(value: string | null): string | null {
  if (value === null || DIGITS.test(value)) return value;
  if (!PHONE.test(value)) return value;
  const digits = value.replace(/\D/g, '');
  return digits === '' ? null : digits;
}

/** Digits of a phone number however it is written; null when it holds none. */
export function toDigits(value: unknown): string | null {
  const text = toText(value);
  return text !== null && PHONE.test(text) ? toContact(text) : null;
}

/** Adds a member that is left out where there is no value; spreading costs ten times as much. */
export function setGiven(
  data: Record<string, unknown>,
  key: string,
  value: string | number | object | null,
): void {
  if (value !== null) data[key] = value;
}

/** Numbers of 22 digits and more would print with an exponent. */
function exactDigits(value: number): string {
  return Number.isSafeInteger(value) ? String(value) : BigInt(value).toString();
}
