// What an API key may not do: the addresses, scopes and accounts that limit it. The restriction is part of
// the cached caller, so that no request waits for it; the partner key has none.
import type { IncomingHttpHeaders } from 'node:http';
import { notRegistered } from '@bmg/common/directory';
import { ApiError } from '@bmg/common/errors';
import { createAddressCheck } from '@bmg/common/keys';
import { metrics } from '@bmg/common/telemetry';
import type { KeyRestriction } from '@bmg/proto/onboarding';
import { keyScopeOf, type Endpoint } from '../endpoints/endpoint';
import { wabaHeader } from './scope';

/** By the restriction as it is cached, so that its ranges are read once. */
const checks = new WeakMap<KeyRestriction, (address: string) => boolean>();

export interface AnyScope {
  /** A key of any scope may call it, because it checks the scope of each part of the request itself. */
  any_scope?: true;
}

/** Undefined if the restriction allows a request to the endpoint from the address. */
export function refusalOf(
  restriction: KeyRestriction | undefined,
  endpoint: Pick<Endpoint, 'verb' | 'key_scope'> & AnyScope,
  address: string,
): ApiError | undefined {
  if (!restriction) return undefined;
  if (!isAllowed(restriction, address)) {
    return new ApiError('ADDRESS_NOT_ALLOWED', `this key may not be used from ${address}`, {
      details: { address },
    });
  }
  const scope = keyScopeOf(endpoint);
  if (endpoint.any_scope || restriction.scopes.includes(scope)) return undefined;
  return new ApiError('SCOPE_MISSING', `this key lacks the scope ${scope}`, { details: { scope } });
}

function isAllowed(restriction: KeyRestriction, address: string): boolean {
  const { addresses } = restriction;
  if (addresses.length === 0) return true;
  let check = checks.get(restriction);
  if (!check) checks.set(restriction, (check = createAddressCheck(addresses)));
  return check(address);
}

/** A secret whose time is over is refused like an unknown one, however long its caller is cached. */
export const isExpired = (restriction: KeyRestriction | undefined, now: number): boolean =>
  restriction?.expires_at !== undefined && restriction.expires_at.getTime() <= now;

/**
 * Throws unless a request stays within the accounts of its key. An account that the key does not have is
 * answered like an unknown one.
 */
export function checkAccounts(
  { waba_ids }: KeyRestriction,
  { scope }: Pick<Endpoint, 'scope'>,
  { headers, params }: { headers: IncomingHttpHeaders; params: Record<string, string> },
): void {
  if (waba_ids.length === 0) return;
  const is_by_header = scope === 'number' || scope === 'filter';
  const waba_id = is_by_header ? wabaHeader(headers) : params['waba_id'];
  if (waba_id !== undefined) {
    if (!waba_ids.includes(waba_id)) throw countRefusal(notRegistered());
    return;
  }
  if (is_by_header) {
    throw new ApiError(
      'MISSING_WABA',
      'the header x-waba-id is required, because this key is limited to some accounts',
      { details: { fields: ['x-waba-id'] } },
    );
  }
  throw countRefusal(
    new ApiError(
      'KEY_RESTRICTED',
      'this endpoint covers all accounts, and this key is limited to some of them',
      { details: { waba_ids } },
    ),
  );
}

export function countRefusal(refusal: ApiError): ApiError {
  metrics.key_refusals.inc({ code: refusal.code });
  return refusal;
}
