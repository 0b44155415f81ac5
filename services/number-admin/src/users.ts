// Users in the bodies of blocking and groups.
import { invalidField } from '@bmg/common/errors';
import { parseBsuid } from '@bmg/common/ids';

export type UserEntry = { user: string } | { user_id: string };

/**
 * One user in the upstream's form: a BSUID or a phone number. A number is passed on unchanged,
 * because the answer repeats it as `input`.
 */
export function userEntry(text: string, field: string): UserEntry {
  const given = text.trim();
  if (given === '') throw invalidField(field, 'must not be blank');
  const bsuid = parseBsuid(given);
  return bsuid === null ? { user: given } : { user_id: bsuid };
}
