// Registers a client, by hand or from the embedded sign-up. Everything is checked upstream before
// the client is stored: a refusal leaves nothing behind, and a repeated request completes what a
// crash interrupted. The partner gets the account's events from before it is subscribed.
import { ApiError, invalidField } from '@bmg/common/errors';
import { partnerVersionKey, wabaVersionKey } from '@bmg/common/directory';
import type { Call } from '@bmg/common/rpc';
import { createOnboardingLog, type OnboardingLogDependencies } from '../onboarding-log';
import { type PaymentProcessor, refuseUnlessPaid, takePlace } from '../../billing/payments';
import { type ClientSyncs, openSyncWindow, syncCoexistence, syncFacts } from '../sync';
import {
  fetchBusinessId,
  fetchNumber,
  type ListedNumber,
  listNumbers,
  type SyncOutcomes,
} from '../upstream';
import { monthOf } from '../../ground/slots';
import type { ClientTokens } from './store';
import { subscribeAhead, type SubscribeDependencies } from './subscribe-ahead';
import type { NumberDays } from '../../ground/number-days';
import {
  secretIdentity,
  type Client,
  type Clients,
  type NumberScope,
  type Registration,
  type Scope,
} from '../../ground/clients';
import type { DueEvent } from '../../ground/due-events';
import type { OpenNumber } from '../../ground/open-registrations';
import { hasRoom, type Partner, type Partners } from '../../ground/partners';
import type { Vault } from '@bmg/common/vault';

export interface RegisterDependencies extends SubscribeDependencies {
  clients: Clients;
  partners: Partners;
  vault: Vault;
  payments: PaymentProcessor;
  clientTokens: Pick<ClientTokens, 'recheckOthers'>;
  clientSyncs: Pick<ClientSyncs, 'change'>;
  numberDays: Pick<NumberDays, 'record'>;
  /** Called when tokens are due for a check. */
  onTokensDue(): void;
  /** Called when a row holds an event. */
  onEventsDue(): void;
}

export interface RegistrationInput {
  access_token: string;
  display_name?: string | undefined;
  /**
   * The sign-up code's exchange: a new one restarts the data sync. Absent for a manual
   * registration.
   */
  onboarding_id?: string | undefined;
  /** The `state` of the connect session, for the event. */
  state?: string | null | undefined;
  /** The account's numbers, if the caller has listed them already. */
  numbers?: ListedNumber[] | undefined;
}

export interface Registered {
  client: Client;
  created: boolean;
  sync: SyncOutcomes;
}

/**
 * A manual registration, with the partner's own token. The onboarding log records its steps like a
 * sign-up's.
 */
export async function registerClient(
  deps: RegisterDependencies & OnboardingLogDependencies,
  scope: NumberScope,
  given: RegistrationInput,
  call: Call,
): Promise<Registered> {
  const steps = createOnboardingLog(deps, scope.partner_id, null, scope);
  const stored = await steps.run('REGISTRATION', () => storeClient(deps, scope, given, call));
  const synced = await syncCoexistence(deps, stored.client, call);
  await steps.record('COEXISTENCE_SYNC', syncFacts(synced));
  await steps.record('COMPLETED');
  const { client, sync } = synced;
  return { client, sync, created: stored.created };
}

/**
 * A registration without its data sync, which never makes it fail. Throws INVALID_FIELD for a
 * number of another account, WABA_LIMIT_REACHED, a 402 of the payment processor, or the upstream's
 * error.
 */
export async function storeClient(
  deps: RegisterDependencies,
  scope: NumberScope,
  given: RegistrationInput,
  call: Call,
): Promise<Omit<Registered, 'sync'>> {
  const { clients, clientTokens, partners, vault, upstream, versions } = deps;
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
  if (!partner) throw new ApiError('INVALID_PARTNER_KEY', 'the partner does not exist');
  if (!hasRoom(partner, scope.waba_id)) throw limitReached(partner);
  const purchase = { ...idsOf(scope), month: monthOf(deps.now()) };
  // An account beyond the paid slots is charged before it becomes active (contract 1.7).
  const cover = await deps.payments.cover(purchase, call);
  const { verified_name, ...number } = facts;
  const opened: [OpenNumber] = [{ ...scope, phone_number: number.phone_number }];
  await subscribeAhead(deps, opened, token, call);

  const before = await clients.find(scope);
  const place = await takePlace(deps, purchase, cover, call);
  if (!place) throw limitReached(partner);
  const now = deps.now();
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
  const previous = await clients.upsert(registration, now, connected(before, given, now));
  await deps.openRegistrations.close(opened);
  // A partner whose access has ended loses the number's events with this onboarding.
  await clientTokens.recheckOthers(scope);
  deps.onTokensDue();
  await versions.bump([partnerVersionKey(scope.partner_id), wabaVersionKey(scope.waba_id)]);
  await deps.payments.review(scope.partner_id);
  const client = (await clients.find(scope)) as Client;
  await deps.numberDays.record([client], now);
  deps.onEventsDue();
  refuseUnlessPaid(client);
  return { client, created: previous === null };
}

/**
 * The event of a new registration: a first one, one after a deletion, or one by another sign-up
 * code. A repetition has none.
 */
function connected(
  before: Client | null,
  { onboarding_id, state = null }: RegistrationInput,
  at: Date,
): DueEvent | undefined {
  const event = { event: 'client.connected', at, data: { state } } as const;
  if (onboarding_id !== undefined) {
    return before?.onboarding_id === onboarding_id ? undefined : { ...event, key: onboarding_id };
  }
  // Two first registrations at the same time make the same event.
  if (!before) return { ...event, key: 'first' };
  if (before.status !== 'deleted') return undefined;
  return { ...event, key: `again/${before.deleted_at?.getTime()}` };
}

/** Retrying an unfinished sign-up code must not restart the data sync. */
const newOnboarding = (
  before: Client | null,
  onboarding_id: string | undefined,
): Partial<Registration> =>
  onboarding_id === undefined || before?.onboarding_id === onboarding_id
    ? {}
    : {
        onboarding_id,
        sync_requested: { smb_app_state_sync: null, history: null },
        history_phase: null,
        history_progress: null,
        history_at: null,
        history_error: null,
      };

const idsOf = ({ partner_id, waba_id }: NumberScope): Scope => ({ partner_id, waba_id });

const limitReached = ({ max_wabas }: Partner): ApiError =>
  new ApiError(
    'WABA_LIMIT_REACHED',
    'the plan’s limit of business accounts is reached: delete one or ask for a higher limit',
    { details: { max_wabas } },
  );
