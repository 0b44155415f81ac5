// Registers a client from what a partner or the embedded sign-up gave: everything is checked upstream
// first, so that a refusal at any step leaves nothing behind, and a repeat completes what a crash cut off.
import { ApiError, invalidField } from '@bmg/common/errors';
import { partnerVersionKey, wabaVersionKey, type Versions } from '@bmg/common/directory';
import type { Call } from '@bmg/common/rpc';
import type { Upstream } from '@bmg/common/upstream';
import { createAttempt, type AttemptDependencies } from '../sign-up/onboarding-log';
import { refuseUnlessPaid, takePlace } from '../payments/place';
import { openSyncWindow, syncCoexistence, syncFacts } from '../sign-up/coexistence-sync';
import {
  fetchBusinessId,
  fetchNumber,
  listNumbers,
  subscribe,
  type ListedNumber,
  type SyncOutcomes,
} from '../upstream/number-facts';
import type { PaymentProcessor } from '../payments/choose-processor';
import { monthOf } from '../payments/slots';
import {
  secretIdentity,
  type Client,
  type Clients,
  type NumberScope,
  type Registration,
  type Scope,
} from '../store/clients';
import { hasRoom, type Partner, type Partners } from '../store/partners';
import type { Vault } from '../secrets/vault';

export interface RegisterDependencies {
  clients: Clients;
  partners: Partners;
  vault: Vault;
  upstream: Upstream;
  versions: Versions;
  payments: PaymentProcessor;
  now: () => Date;
}

export interface Given {
  access_token: string;
  display_name?: string | undefined;
  /** The code that brought the client: each one opens the data sync anew. */
  onboarding_id?: string | undefined;
  /** The account's numbers, where the caller has just listed them. */
  numbers?: ListedNumber[] | undefined;
}

export interface Registered {
  client: Client;
  created: boolean;
  sync: SyncOutcomes;
}

/** By hand, with a token of the partner's own; the log has its steps as it has those of a sign-up. */
export async function registerClient(
  deps: RegisterDependencies & AttemptDependencies,
  scope: NumberScope,
  given: Given,
  call: Call,
): Promise<Registered> {
  const attempt = createAttempt(deps, scope.partner_id, null, scope);
  const stored = await attempt.run('REGISTRATION', () => storeClient(deps, scope, given, call));
  const synced = await syncCoexistence(deps, stored.client, given.access_token, call);
  await attempt.note('COEXISTENCE_SYNC', syncFacts(synced));
  await attempt.note('COMPLETED');
  const { client, sync } = synced;
  return { client, sync, created: stored.created };
}

/** All of a registration but the data sync, which never makes it fail. */
export async function storeClient(
  deps: RegisterDependencies,
  scope: NumberScope,
  given: Given,
  call: Call,
): Promise<Omit<Registered, 'sync'>> {
  const { clients, partners, vault, upstream, versions } = deps;
  const token = given.access_token;
  const [numbers, facts, business_id] = await Promise.all([
    given.numbers ?? listNumbers(upstream, scope.waba_id, token, call),
    fetchNumber(upstream, scope.phone_number_id, token, call),
    fetchBusinessId(upstream, scope.waba_id, token, call),
  ]);
  if (!numbers.some(({ id }) => id === scope.phone_number_id)) {
    throw invalidField('phone_number_id', 'does not belong to the WABA');
  }
  const partner = await partners.find(scope.partner_id);
  if (!partner) throw new ApiError('INVALID_PARTNER_KEY', 'the partner is not known');
  if (!hasRoom(partner, scope.waba_id)) throw limitReached(partner);
  const purchase = { ...idsOf(scope), month: monthOf(deps.now()) };
  // An account beyond the slots that are paid for is paid for first (contract, Commercial terms).
  const cover = await deps.payments.cover(purchase, call);
  await subscribe(upstream, scope.waba_id, token, call);

  const before = await clients.find(scope);
  const place = await takePlace(deps, purchase, cover, call);
  if (!place) throw limitReached(partner);
  const now = deps.now();
  const { verified_name, ...number } = facts;
  const registration: Registration = {
    ...scope,
    ...number,
    display_name: given.display_name ?? before?.display_name ?? verified_name,
    business_id: business_id ?? before?.business_id ?? null,
    token: vault.seal(secretIdentity(scope, 'token'), token),
    ...place,
    ...(before?.status === 'deleted' && { registered_at: now }),
    ...newOnboarding(before, given.onboarding_id),
    ...openSyncWindow(before, { onboarding_id: given.onboarding_id, ...number }, now),
  };
  const previous = await clients.upsert(registration, now);
  await versions.bump([partnerVersionKey(scope.partner_id), wabaVersionKey(scope.waba_id)]);
  await deps.payments.review(scope.partner_id);
  const client = (await clients.find(scope)) as Client;
  refuseUnlessPaid(client);
  return { client, created: previous === null };
}

/** A code that was used before, by a try that did not come to its end, opens nothing anew. */
const newOnboarding = (
  before: Client | null,
  onboarding_id: string | undefined,
): Partial<Registration> =>
  onboarding_id === undefined || before?.onboarding_id === onboarding_id
    ? {}
    : { onboarding_id, sync_requested: { smb_app_state_sync: null, history: null } };

const idsOf = ({ partner_id, waba_id }: NumberScope): Scope => ({ partner_id, waba_id });

const limitReached = ({ max_wabas }: Partner): ApiError =>
  new ApiError('WABA_LIMIT_REACHED', 'the plan’s limit of business accounts is reached', {
    details: { max_wabas },
  });
