// What an API key or a person may not do: the scopes, addresses and accounts that limit them. The
// restriction of a key is part of the cached caller, so that no request waits for it; the partner
// key has none. That of a person has the scopes of the role, and comes with the session.
import type { IncomingHttpHeaders } from 'node:http';
import { notRegistered } from '@bmg/common/directory';
import { ApiError } from '@bmg/common/errors';
import { createAddressCheck, type KeyScope } from '@bmg/common/keys';
import { holdersOf } from '@bmg/common/people';
import { metrics } from '@bmg/common/telemetry';
import type { KeyRestriction } from '@bmg/proto/onboarding';
import type { SignedInPerson } from '@bmg/proto/settings';
import { keyScopeOf, type Endpoint, type Fields } from '../endpoints/endpoint';
import { wabaHeader } from './scope';

/** What limits an API key or a person. */
export type Restriction = Omit<KeyRestriction, 'key_id'> & {
  key_id?: string | undefined;
  person_id?: string | undefined;
};

/** A person is limited by the scopes of the role only. */
export const restrictionOfPerson = ({
  person_id,
  scopes,
}: Pick<SignedInPerson, 'person_id' | 'scopes'>): Restriction => ({
  person_id,
  scopes,
  waba_ids: [],
  addresses: [],
});

/** Keyed by the cached restriction, so that its ranges are parsed once. */
const checks = new WeakMap<Restriction, (address: string) => boolean>();

export interface AnyScope {
  /** A key of any scope may call it: it checks the scope of each part of the request. */
  any_scope?: true;
}

/** Undefined if the restriction allows a request to the endpoint from the address. */
export function refusalOf(
  restriction: Restriction | undefined,
  endpoint: Pick<Endpoint, 'verb' | 'key_scope' | 'person_only'> & AnyScope,
  address: string,
): ApiError | undefined {
  if (!restriction) return refusalOfKeys(endpoint, undefined);
  if (!isAllowed(restriction, address)) {
    return new ApiError('ADDRESS_NOT_ALLOWED', `this key may not be used from ${address}`, {
      details: { address },
    });
  }
  const scope = keyScopeOf(endpoint);
  if (endpoint.any_scope || restriction.scopes.includes(scope)) {
    return refusalOfKeys(endpoint, restriction.person_id);
  }
  return scopeMissing(restriction, scope);
}

/** Throws SCOPE_MISSING if the request would hand events to a caller who may not read them. */
export function checkEvents(
  restriction: Pick<Restriction, 'scopes' | 'person_id'> | undefined,
  { hands_events }: Pick<Endpoint, 'hands_events'>,
  body: Fields,
): void {
  if (!restriction || restriction.scopes.includes(READ)) return;
  if (hands_events === true || hands_events?.(body)) {
    throw countRefusal(scopeMissing(restriction, READ));
  }
}

const READ: KeyScope = 'read';

const scopeMissing = ({ person_id }: Pick<Restriction, 'person_id'>, scope: KeyScope): ApiError =>
  new ApiError(
    'SCOPE_MISSING',
    `${person_id === undefined ? 'this key' : 'your role'} lacks the scope ${scope}`,
    { details: { scope } },
  );

/** Also of the partner key, and of a console session that it opened. */
function refusalOfKeys(
  endpoint: Pick<Endpoint, 'verb' | 'key_scope' | 'person_only'>,
  person_id: string | undefined,
): ApiError | undefined {
  if (!endpoint.person_only || person_id !== undefined) return undefined;
  return new ApiError(
    'PERSON_REQUIRED',
    'no key may do this: a person does it, signed in to the console',
    { details: { roles: holdersOf(keyScopeOf(endpoint)) } },
  );
}

function isAllowed(restriction: Restriction, address: string): boolean {
  const { addresses } = restriction;
  if (addresses.length === 0) return true;
  let check = checks.get(restriction);
  if (!check) checks.set(restriction, (check = createAddressCheck(addresses)));
  return check(address);
}

/** An expired secret is refused like an unknown one, however long its caller stays cached. */
export const isExpired = (restriction: Restriction | undefined, now: number): boolean =>
  restriction?.expires_at !== undefined && restriction.expires_at.getTime() <= now;

/**
 * Throws unless a request stays within the accounts of its key. An account that the key does not
 * have is answered like an unknown one.
 */
export function checkAccounts(
  { waba_ids }: Pick<Restriction, 'waba_ids'>,
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

const refusals = new WeakSet<ApiError>();

/** True for a refusal of the gateway, before any work. */
export const isRefusal = (error: ApiError): boolean => refusals.has(error);

export function countRefusal(refusal: ApiError): ApiError {
  metrics.key_refusals.inc({ code: refusal.code });
  refusals.add(refusal);
  return refusal;
}
