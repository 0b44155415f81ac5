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

const WABA_IDS_MAX = 100;

/** Each account once. Throws INVALID_FIELD naming `waba_ids` unless all are registered. */
export function checkAccounts(waba_ids: string[], registered: readonly string[]): string[] {
  if (waba_ids.length > WABA_IDS_MAX) {
    throw invalidField('waba_ids', `must have at most ${WABA_IDS_MAX} items`);
  }
  const unknown = waba_ids.findIndex((waba_id) => !registered.includes(waba_id));
  if (unknown >= 0) {
    throw invalidField(
      `waba_ids[${unknown}]`,
      'is not one of your business accounts: register it first',
    );
  }
  return [...new Set(waba_ids)];
}
