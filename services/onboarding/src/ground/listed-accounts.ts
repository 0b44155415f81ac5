// The rule for lists of a partner's business accounts: what a key or a webhook endpoint is limited to. Pure.
import { invalidField } from '@bmg/common/errors';

const WABA_IDS_MAX = 100;

/** Each account once. `registered` are the partner's accounts. Throws INVALID_FIELD naming `waba_ids`. */
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
