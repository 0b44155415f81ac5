// Registers a client from what a partner or the embedded sign-up gave: everything is checked upstream
// first, so that a refusal at any step leaves nothing behind, and a repeat completes what a crash cut off.
import { ApiError, invalidField } from '@bmg/common/errors';
import { partnerVersionKey, wabaVersionKey, type Versions } from '@bmg/common/redis';
import type { Call } from '@bmg/common/rpc';
import type { Upstream } from '@bmg/common/upstream';
import {
  fetchBusinessId,
  fetchNumber,
  listNumbers,
  requestSync,
  subscribe,
  type ListedNumber,
  type SyncType,
} from './number-facts';
import type { Cover, PaymentProcessor } from './payments';
import { billOf, monthOf, slotsFor } from './slots';
import {
  secretIdentity,
  type Client,
  type Clients,
  type NumberScope,
  type Registration,
} from './store/clients';
import { hasRoom, type Partner, type Partners } from './store/partners';
import type { Vault } from './vault';

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
  sync: Record<SyncType, string>;
}

export async function registerClient(
  deps: RegisterDependencies,
  scope: NumberScope,
  given: Given,
  call: Call,
): Promise<Registered> {
  const { client, created } = await storeClient(deps, scope, given, call);
  return { created, ...(await syncCoexistence(deps, client, given.access_token, call)) };
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
  const month = monthOf(deps.now());
  const cover = await payFor(deps.payments, partner, scope.waba_id, month);
  await subscribe(upstream, scope.waba_id, token, call);

  const before = await clients.find(scope);
  if (!(await partners.reserveWaba(scope.partner_id, scope.waba_id, month))) {
    throw limitReached(partner);
  }
  const now = deps.now();
  const { verified_name, ...number } = facts;
  const registration: Registration = {
    ...scope,
    ...number,
    display_name: given.display_name ?? before?.display_name ?? verified_name,
    business_id: business_id ?? before?.business_id ?? null,
    token: vault.seal(secretIdentity(scope, 'token'), token),
    ...cover,
    ...(before?.status === 'deleted' && { registered_at: now }),
    ...newOnboarding(before, given.onboarding_id),
  };
  const previous = await clients.upsert(registration, now);
  await versions.bump([partnerVersionKey(scope.partner_id), wabaVersionKey(scope.waba_id)]);
  return { client: (await clients.find(scope)) as Client, created: previous === null };
}

/** A code that was used before, by a try that did not come to its end, opens nothing anew. */
const newOnboarding = (
  before: Client | null,
  onboarding_id: string | undefined,
): Partial<Registration> =>
  onboarding_id === undefined || before?.onboarding_id === onboarding_id
    ? {}
    : { onboarding_id, sync_requested: { smb_app_state_sync: null, history: null } };

/** An account beyond the slots of the month so far is paid for first (contract, Commercial terms). */
async function payFor(
  payments: PaymentProcessor,
  partner: Partner,
  waba_id: string,
  month: string,
): Promise<Cover | Record<string, never>> {
  if (partner.wabas.includes(waba_id)) return {};
  const slots = slotsFor(partner.wabas.length + 1);
  if (slots <= billOf(partner.months ?? {}, month).slots) return {};
  return payments.cover({ partner_id: partner._id, waba_id, month, slots });
}

const limitReached = ({ max_wabas }: Partner): ApiError =>
  new ApiError('WABA_LIMIT_REACHED', 'the plan’s limit of business accounts is reached', {
    details: { max_wabas },
  });

/** Contacts first, then history: each is asked for once an onboarding, within 24 hours of it. */
export async function syncCoexistence(
  { clients, upstream, now }: Pick<RegisterDependencies, 'clients' | 'upstream' | 'now'>,
  registered: Client,
  token: string,
  call: Call,
): Promise<Pick<Registered, 'client' | 'sync'>> {
  let client = registered;
  const sync = { smb_app_state_sync: 'requested', history: 'requested' };
  for (const type of ['smb_app_state_sync', 'history'] as const) {
    if (client.sync_requested[type]) continue;
    sync[type] = client.is_on_biz_app
      ? await requestSync(upstream, client.phone_number_id, type, token, call)
      : 'failed: the number is not in use in the business app';
    if (sync[type] !== 'requested') continue;
    const sync_requested = { ...client.sync_requested, [type]: now() };
    client = (await clients.change(client, { sync_requested })) ?? client;
  }
  return { client, sync };
}
