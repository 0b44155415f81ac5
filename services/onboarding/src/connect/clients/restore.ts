// Restores a deleted account for support (the REST API has no such endpoint): all its deleted
// numbers and its webhook subscription. If the upstream refuses the subscription, nothing is
// restored.
import { ApiError } from '@bmg/common/errors';
import { partnerVersionKey, wabaVersionKey } from '@bmg/common/directory';
import type { Call } from '@bmg/common/rpc';
import { type PlaceDependencies, refuseUnlessPaid, takePlace } from '../../billing/payments';
import { monthOf } from '../../ground/slots';
import { secretIdentity, type Client, type Clients, type Scope } from '../../ground/clients';
import { hasRoom, partnerOf } from '../../ground/partners';
import type { Vault } from '@bmg/common/vault';
import { subscribeAhead, type SubscribeDependencies } from './subscribe-ahead';

export interface RestoreDependencies extends PlaceDependencies, SubscribeDependencies {
  clients: Clients;
  vault: Vault;
  onEventsDue(): void;
}

/** Returns the account's active numbers. Safe to repeat after a crash at any step. */
export async function restoreAccount(
  deps: RestoreDependencies,
  scope: Scope,
  call: Call,
): Promise<[Client, ...Client[]]> {
  const { clients, partners, payments, vault, versions, now } = deps;
  const { partner_id, waba_id } = scope;
  const partner = await partnerOf(partners, partner_id);
  const [latest, ...others] = await clients.deletedOf(scope);
  if (!latest) throw nothingToRestore();
  if (!hasRoom(partner, waba_id)) throw limitReached();
  // Charged like a registration: a restored account takes a slot again.
  const purchase = { partner_id, waba_id, month: monthOf(now()) };
  const cover = await payments.cover(purchase, call);
  // Before anything is stored: a client without a subscription would look healthy and receive no
  // events.
  const token = vault.open(secretIdentity(latest, 'token'), latest.token);
  await subscribeAhead(deps, [latest, ...others], token, call);
  const place = await takePlace(deps, purchase, cover, call);
  if (!place) throw limitReached();
  await clients.restore(scope, place, now());
  await deps.openRegistrations.close([latest, ...others]);
  await versions.bump([partnerVersionKey(partner_id), wabaVersionKey(waba_id)]);
  await payments.review(partner_id);
  deps.onEventsDue();
  const [first, ...rest] = await clients.activeOf(scope);
  if (!first) throw nothingToRestore();
  refuseUnlessPaid(first);
  return [first, ...rest];
}

const nothingToRestore = (): ApiError =>
  new ApiError('NOT_FOUND', 'this account has no deleted client to restore');

const limitReached = (): ApiError =>
  new ApiError(
    'WABA_LIMIT_REACHED',
    'the plan’s limit of business accounts is reached: raise max_wabas first',
  );
