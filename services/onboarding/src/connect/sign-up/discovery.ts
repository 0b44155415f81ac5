// Decides which account and number a sign-up is for. The IDs that the browser sends are claims; the
// grant of the token decides. No I/O.
import { ApiError } from '@bmg/common/errors';
import type { ListedNumber, TokenGrant } from '../upstream';

const MANAGEMENT_SCOPE = 'whatsapp_business_management';

interface GranularScope {
  scope?: unknown;
  target_ids?: unknown;
}

const failed = (message: string): ApiError => new ApiError('DISCOVERY_FAILED', message);

/** The granted accounts, newest first; undefined if the grant lists none. */
function grantedAccounts({ granular_scopes }: TokenGrant): string[] | undefined {
  const scopes = Array.isArray(granular_scopes) ? (granular_scopes as GranularScope[]) : [];
  const management = scopes.find((one) => one?.scope === MANAGEMENT_SCOPE);
  if (!management) {
    throw failed('the sign-up did not grant the permission to manage a business account');
  }
  return Array.isArray(management.target_ids) ? management.target_ids.map(String) : undefined;
}

/**
 * The ID of the signed-up account: the browser's claim if the token covers it, the newest
 * granted account without a claim. Throws DISCOVERY_FAILED for a claim that the token does not
 * cover, so that no account is registered that the person did not see.
 */
export function chooseAccount(grant: TokenGrant, claim: string | undefined): string {
  const accounts = grantedAccounts(grant);
  if (accounts === undefined) {
    // Nothing proves the claim yet. The next step does: the token must be able to list the
    // account's numbers.
    if (claim !== undefined) return claim;
    throw failed('the sign-up names no business account: send waba_id');
  }
  const [newest] = accounts;
  if (newest === undefined) throw failed('the sign-up granted access to no business account');
  if (claim === undefined) return newest;
  if (accounts.includes(claim)) return claim;
  throw failed('waba_id is not a business account that this sign-up granted');
}

/** The claimed number if the account has it, else the first in the business app, else the first. */
export function chooseSignedUpNumber(numbers: ListedNumber[], claim: string | undefined): string {
  const chosen =
    numbers.find(({ id }) => id === claim) ??
    numbers.find(({ is_on_biz_app }) => is_on_biz_app) ??
    numbers[0];
  if (!chosen) throw failed('the business account of this sign-up has no phone number');
  return chosen.id;
}
