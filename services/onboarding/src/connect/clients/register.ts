// Registers a client, by hand or from the embedded sign-up. Everything is checked upstream before
// the client is stored: a refusal leaves nothing behind, and a repeated request completes what a
// crash interrupted. The account is subscribed before its clients are active, so that an active
// client receives events. Those that arrive in between belong to the partner, too: see open
// registrations.
import { wabaVersionKey } from '@bmg/common/directory';
import { ApiError, invalidField, rewrap } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import { createOnboardingLog } from '../onboarding-log';
import { refuseUnlessPaid, takePlace } from '../../billing/payments';
import { openSyncWindow, syncCoexistence, syncFacts } from '../sync';
import {
  fetchBusinessId,
  fetchNumber,
  type ListedNumber,
  listNumbers,
  type SyncOutcomes,
  subscribe,
} from '../upstream';
import { monthOf } from '../../ground/slots';
import {
  secretIdentity,
  versionKeys,
  type Client,
  type NumberScope,
  type Registration,
  type Scope,
} from '../../ground/clients';
import type { DueEvent } from '../../ground/due-events';
import type { OpenNumber } from '../../ground/open-registrations';
import { hasRoom, partnerOf, type Partner } from '../../ground/partners';
import type { Dependencies } from '../../dependencies';

/**
 * How long the partner may take to repeat a registration whose subscription had no answer. The
 * upstream may have processed it, so the account's events go to the partner meanwhile.
 */
const REPEAT_WITHIN_MS = 24 * 3_600_000;

interface RegistrationInput {
  access_token: string;
  display_name?: string | undefined;
  /** The code's exchange: a new one restarts the data sync. Absent without a code. */
  onboarding_id?: string | undefined;
  /** The `state` of the connect session, for the event. */
  state?: string | null | undefined;
  /** The account's numbers, if the caller has listed them already. */
  numbers?: ListedNumber[] | undefined;
}

interface Registered {
  client: Client;
  created: boolean;
  sync: SyncOutcomes;
}

/** A registration with the partner's own token, logged step by step like a sign-up. */
export async function registerClient(
  deps: Dependencies,
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
  deps: Dependencies,
  scope: NumberScope,
  given: RegistrationInput,
  call: Call,
): Promise<Omit<Registered, 'sync'>> {
  const { clients, clientTokens, partners, vault, upstream } = deps;
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
  const full = 'delete one or ask for a higher limit';
  const { verified_name, ...number } = facts;
  const opened: [OpenNumber] = [{ ...scope, phone_number: number.phone_number }];
  const place = await placeOf(deps, { partner, opened, token, full }, call);
  const before = await clients.find(scope);
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
  // A partner whose access has ended loses the number's events with this onboarding.
  await clientTokens.recheckOthers(scope);
  deps.onTokensDue();
  await finish(deps, scope, opened);
  const client = (await clients.find(scope)) as Client;
  await deps.numberDays.record([client], now);
  refuseUnlessPaid(client);
  return { client, created: previous === null };
}

/** The event of a first registration, or one after a deletion or by another code. */
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

/**
 * Restores a deleted account for support (the REST API has no such endpoint): all its deleted
 * numbers and its webhook subscription. If the upstream refuses the subscription, nothing is
 * restored. Returns the account's active numbers. Safe to repeat after a crash at any step.
 */
export async function restoreAccount(
  deps: Dependencies,
  scope: Scope,
  call: Call,
): Promise<[Client, ...Client[]]> {
  const { clients, partners, vault, now } = deps;
  const partner = await partnerOf(partners, scope.partner_id);
  const [latest, ...others] = await clients.deletedOf(scope);
  if (!latest) throw nothingToRestore();
  const opened: [Client, ...Client[]] = [latest, ...others];
  const token = vault.open(secretIdentity(latest, 'token'), latest.token);
  // A restored account takes a slot again, like a registered one.
  const full = 'raise max_wabas first';
  const place = await placeOf(deps, { partner, opened, token, full }, call);
  await clients.restore(scope, place, now());
  await finish(deps, scope, opened);
  const [first, ...rest] = await clients.activeOf(scope);
  if (!first) throw nothingToRestore();
  refuseUnlessPaid(first);
  return [first, ...rest];
}

const nothingToRestore = (): ApiError =>
  new ApiError('NOT_FOUND', 'this account has no deleted client to restore');

interface Opening {
  partner: Partner;
  /** The numbers of one account. */
  opened: [OpenNumber, ...OpenNumber[]];
  token: string;
  /** What to do if the plan has no room. */
  full: string;
}

/**
 * Subscribes the account and takes its place under the plan's limit. An account beyond the paid
 * slots is charged before it becomes active (contract 1.7). Nothing is stored before: a client
 * without a subscription would look healthy and receive no events.
 */
async function placeOf(
  deps: Dependencies,
  { partner, opened, token, full }: Opening,
  call: Call,
): Promise<Pick<Client, 'billing' | 'payment_url'>> {
  const [{ partner_id, waba_id }] = opened;
  const { max_wabas } = partner;
  const message = `the plan’s limit of business accounts is reached: ${full}`;
  const limitReached = (): ApiError =>
    new ApiError('WABA_LIMIT_REACHED', message, { details: { max_wabas } });
  if (!hasRoom(partner, waba_id)) throw limitReached();
  const purchase = { partner_id, waba_id, month: monthOf(deps.now()) };
  const cover = await deps.payments.cover(purchase, call);
  await subscribeAhead(deps, opened, token, call);
  const place = await takePlace(deps, purchase, cover, call);
  if (!place) throw limitReached();
  return place;
}

/** Ends the open registrations once the clients are active, and makes the change known. */
async function finish(deps: Dependencies, scope: Scope, opened: NumberScope[]): Promise<void> {
  await deps.openRegistrations.close(opened);
  await deps.versions.bump(versionKeys([scope]));
  await deps.payments.review(scope.partner_id);
  deps.onEventsDue();
}

/**
 * Opens the registration of the numbers, which are of one account. The caller closes it once their
 * clients are active. A failure is retryable unless the upstream refused.
 */
async function subscribeAhead(
  { openRegistrations, upstream, versions, now }: Dependencies,
  numbers: [OpenNumber, ...OpenNumber[]],
  token: string,
  call: Call,
): Promise<void> {
  const [{ waba_id }] = numbers;
  await openRegistrations.open(numbers, new Date(now().getTime() + REPEAT_WITHIN_MS));
  await versions.bump([wabaVersionKey(waba_id)]);
  try {
    await subscribe(upstream, waba_id, token, call);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const is_refused = error.upstream_code !== undefined && !error.retryable;
    // A subscription is idempotent, and a paid slot is not charged again.
    if (!is_refused) throw rewrap(error, { retryable: true });
    await openRegistrations.close(numbers);
    await versions.bump([wabaVersionKey(waba_id)]);
    throw error;
  }
}
