// The field, the account and the number that a change of a webhook concerns.

import { isObject, objectOf, toDigits, toText, type JsonObject } from './read';

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
