// Which account and which number a sign-up is about. What the browser said is a claim; what the token was
// granted decides. No I/O here.
import { ApiError } from '@bmg/common/errors';
import type { ListedNumber } from '../upstream/number-facts';

const MANAGEMENT_SCOPE = 'whatsapp_business_management';

/** What `debug_token` tells of a token, as far as it is read here. */
export interface TokenGrant {
  granular_scopes?: unknown;
  expires_at?: unknown;
}

interface GranularScope {
  scope?: unknown;
  target_ids?: unknown;
}

const failed = (message: string): ApiError => new ApiError('DISCOVERY_FAILED', message);

/** Newest first; undefined where the grant is not limited to listed accounts. */
function grantedAccounts({ granular_scopes }: TokenGrant): string[] | undefined {
  const scopes = Array.isArray(granular_scopes) ? (granular_scopes as GranularScope[]) : [];
  const management = scopes.find((one) => one?.scope === MANAGEMENT_SCOPE);
  if (!management) {
    throw failed('the sign-up did not grant the management of a business account');
  }
  return Array.isArray(management.target_ids) ? management.target_ids.map(String) : undefined;
}

/**
 * The account that was signed up: the browser's claim where the token covers it, else the newest one. A
 * claim that the token does not cover is refused: another account than the person saw must not be taken.
 */
export function chooseAccount(grant: TokenGrant, claim: string | undefined): string {
  const accounts = grantedAccounts(grant);
  if (accounts === undefined) {
    // Nothing is listed. The claim is proven by what follows: the token must open the account's numbers.
    if (claim !== undefined) return claim;
    throw failed('the sign-up does not tell which business account it is about');
  }
  const [newest] = accounts;
  if (newest === undefined) throw failed('the sign-up left no business account');
  if (claim === undefined) return newest;
  if (accounts.includes(claim)) return claim;
  throw failed('the business account that was named is no part of this sign-up');
}

/** The claim if it belongs, else the first number in use in the business app, else the first. */
export function chooseSignedUpNumber(numbers: ListedNumber[], claim: string | undefined): string {
  const chosen =
    numbers.find(({ id }) => id === claim) ??
    numbers.find(({ is_on_biz_app }) => is_on_biz_app) ??
    numbers[0];
  if (!chosen) throw failed('the sign-up left no number');
  return chosen.id;
}
