// The form of short texts and lists that people give.
import { invalidField, missingFields } from '@bmg/common/errors';

const CONTROL = /\p{Cc}/u;

/** Returns the trimmed text. Throws MISSING_FIELDS or INVALID_FIELD naming the field. */
export function checkText(field: string, given: string, max: number, refused = CONTROL): string {
  const text = given.trim();
  if (text === '') throw missingFields([field]);
  if (text.length > max || refused.test(text)) {
    throw invalidField(field, `must have at most ${max} characters and no control characters`);
  }
  return text;
}

/** Returns the trimmed text, which may be empty. Throws INVALID_FIELD naming the field. */
export function checkLine(field: string, given: string, max: number): string {
  const line = given.trim();
  if (line.length > max) throw invalidField(field, `must have at most ${max} characters`);
  if (CONTROL.test(line)) throw invalidField(field, 'must not have control characters');
  return line;
}

/** Returns the text. Throws INVALID_FIELD naming the field unless the text is one of `known`. */
export function checkOneOf<T extends string>(field: string, given: string, known: readonly T[]): T {
  const found = known.find((one) => one === given);
  if (found !== undefined) return found;
  throw invalidField(field, `must be one of ${known.join(', ')}`);
}

/** Throws INVALID_FIELD naming the field of a list with more than `max` items. */
export function refuseLonger(field: string, items: readonly unknown[], max: number): void {
  if (items.length > max) throw invalidField(field, `must have at most ${max} items`);
}

const WABA_IDS_MAX = 100;

/** Each account once. Throws INVALID_FIELD naming `waba_ids` unless all are registered. */
export function checkAccounts(waba_ids: string[], registered: readonly string[]): string[] {
  refuseLonger('waba_ids', waba_ids, WABA_IDS_MAX);
  const unknown = waba_ids.findIndex((waba_id) => !registered.includes(waba_id));
  if (unknown >= 0) {
    const field = `waba_ids[${unknown}]`;
    throw invalidField(field, 'is not one of your business accounts: register it first');
  }
  return [...new Set(waba_ids)];
}
