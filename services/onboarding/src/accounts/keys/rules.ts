// The rules for API keys: what a key may be, and what a key may grant to another. Pure functions.
import { ApiError, invalidField, missingFields } from '@bmg/common/errors';
import {
  isAddressRange,
  isKeyScope,
  isWithinRanges,
  KEY_SCOPES,
  type KeyScope,
} from '@bmg/common/keys';
import { checkAccounts, checkLine, refuseLonger } from '../../ground/texts';
import type { PartnerKey } from './store';

const NAME_MAX = 100;
const ADDRESSES_MAX = 50;

/** What a key may do. */
export type Grant = Pick<PartnerKey, 'scopes' | 'waba_ids' | 'addresses' | 'expires_at'>;

/** Throws MISSING_FIELDS or INVALID_FIELD naming `name`. */
export function checkName(name: string): string {
  if (name.trim() === '') throw missingFields(['name']);
  return checkLine('name', name, NAME_MAX);
}

/** Each scope once, in the order of KEY_SCOPES. */
export function checkScopes(scopes: string[]): KeyScope[] {
  if (scopes.length === 0) throw missingFields(['scopes']);
  const unknown = scopes.findIndex((scope) => !isKeyScope(scope));
  if (unknown >= 0) {
    throw invalidField(`scopes[${unknown}]`, `must be one of ${KEY_SCOPES.join(', ')}`);
  }
  return KEY_SCOPES.filter((scope) => scopes.includes(scope));
}

/** Each account once; null for all of them. `registered` are the partner's accounts. */
export const checkKeyAccounts = (
  waba_ids: string[],
  registered: readonly string[],
): string[] | null => (waba_ids.length === 0 ? null : checkAccounts(waba_ids, registered));

/** Each range once; null for any address. */
export function checkAddresses(addresses: string[]): string[] | null {
  if (addresses.length === 0) return null;
  refuseLonger('addresses', addresses, ADDRESSES_MAX);
  const wrong = addresses.findIndex((text) => !isAddressRange(text));
  if (wrong >= 0) {
    throw invalidField(
      `addresses[${wrong}]`,
      'must be an IP address or a network such as 203.0.113.0/24 or 2001:db8::/48',
    );
  }
  return [...new Set(addresses.map((text) => text.toLowerCase()))];
}

export function checkExpiry(expires_at: Date | undefined, now: Date): Date | null {
  if (expires_at === undefined) return null;
  if (expires_at > now) return expires_at;
  throw invalidField('expires_at', 'must be in the future');
}

/** Returns true if all that a key would allow is allowed to `caller` too. */
export function isWithin(caller: Grant, grant: Grant): boolean {
  try {
    checkWithin(caller, grant);
    return true;
  } catch {
    return false;
  }
}

/**
 * Throws unless all that a key would allow is allowed to `caller` too: SCOPE_MISSING naming the
 * scope, or INVALID_FIELD naming what must be narrower.
 */
export function checkWithin(
  caller: Grant,
  { scopes, waba_ids, addresses, expires_at }: Grant,
): void {
  const scope = scopes.find((one) => !caller.scopes.includes(one));
  if (scope) {
    throw new ApiError(
      'SCOPE_MISSING',
      `a key cannot grant the scope ${scope}, which it does not have`,
      { details: { scope } },
    );
  }
  const own = caller.addresses;
  if (own && !(addresses ?? []).every((one) => isWithinRanges(one, own))) {
    throw invalidField('addresses', 'must be within the addresses of the key that grants them');
  }
  if (own && !addresses) {
    throw invalidField('addresses', 'is required: the key that makes the request is limited, too');
  }
  const accounts = caller.waba_ids;
  if (accounts && !(waba_ids?.every((one) => accounts.includes(one)) ?? false)) {
    throw invalidField('waba_ids', 'must be among the accounts of the key that grants them');
  }
  if (caller.expires_at && !(expires_at && expires_at <= caller.expires_at)) {
    throw invalidField('expires_at', 'must not be after the expiry of the key that grants it');
  }
}
