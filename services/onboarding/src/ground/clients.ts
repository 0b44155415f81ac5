// Clients: one row per partner, business account and number.
import type { Collection, Db, Filter } from 'mongodb';
import { spellingsOf } from '@bmg/common/ids';
import { upsert, type Indexes } from '@bmg/common/mongo';
import type { Sealed } from '@bmg/common/vault';
import { partnerVersionKey, wabaVersionKey } from '@bmg/common/directory';
import {
  dueEvent,
  DUE_EVENTS,
  dueEventIndex,
  forgetEvents,
  type DueEvent,
  type HoldsDueEvents,
} from './due-events';
import { changeOne } from './insert';

type ClientStatus = 'active' | 'deleted';
/** `paused` while the upstream re-links the number (contract 10.7). */
type ClientHealth = 'connected' | 'paused';
type ClientBilling = 'active' | 'billing_failed' | 'payment_action_required';

/** Why an account may not send, and where its invoice can be paid. */
export interface WaitingBilling {
  billing: Exclude<ClientBilling, 'active'>;
  payment_url: string | null;
}

/** The facts that events change; each kind has its own time. */
export type FactKind = 'health' | 'limit' | 'throughput';

/** The upstream's facts about a number. */
export interface NumberFacts {
  phone_number: string;
  quality_rating: string | null;
  messaging_limit_tier: string | null;
  throughput_level: string | null;
  is_on_biz_app: boolean;
}

export interface Client extends NumberFacts, HoldsDueEvents {
  _id: string;
  partner_id: string;
  waba_id: string;
  phone_number_id: string;
  display_name: string;
  connection_mode: 'coexistence';
  status: ClientStatus;
  tier: string;
  business_id: string | null;
  token: Sealed;
  pin: Sealed | null;
  health: ClientHealth;
  billing: ClientBilling;
  payment_url: string | null;
  /** When the upstream accepted each data sync: once per onboarding. */
  sync_requested: { smb_app_state_sync: Date | null; history: Date | null };
  /** The exchange of the client's last sign-up code; absent for a client registered by hand. */
  onboarding_id?: string | null;
  /** The last registration, which supersedes events that arrived before it. */
  known_since?: Date;
  /** The upstream's time of the newest event by kind; earlier events change nothing. */
  known_at?: Partial<Record<FactKind, Date>>;
  /** When the number's facts are due to be fetched again, and how many tries were made. */
  refresh_due_at?: Date | null;
  refresh_tries?: number;
  /** End of the data sync window: 24 hours after the onboarding. */
  sync_until?: Date | null;
  /** When to retry the sync; null once the upstream has accepted it or the window has closed. */
  sync_retry_at?: Date | null;
  sync_tries?: number;
  /** The highest phase and percentage of the history that arrived, and the upstream's refusal. */
  history_phase?: number | null;
  history_progress?: number | null;
  history_at?: Date | null;
  history_error?: { code: number; message: string } | null;
  /** True once the warning about the closing window was given. */
  sync_warned?: boolean;
  /** When the token's expiry was last checked, and the expiry; null means that it never expires. */
  token_checked_at?: Date;
  token_expires_at?: Date | null;
  /** When the business withdrew our access; a registration ends it. */
  withdrawn_at?: Date | null;
  registered_at: Date;
  deleted_at: Date | null;
  last_activity_at: Date | null;
}

export interface Scope {
  partner_id: string;
  waba_id: string;
}

export interface NumberScope extends Scope {
  phone_number_id: string;
}

export const clientId = ({ partner_id, waba_id, phone_number_id }: NumberScope): string =>
  `${partner_id}/${waba_id}/${phone_number_id}`;

/** The keys of every cached directory entry of the partners and the accounts. */
export const versionKeys = (clients: Scope[]): string[] => [
  ...new Set(
    clients.flatMap(({ partner_id, waba_id }) => [
      partnerVersionKey(partner_id),
      wabaVersionKey(waba_id),
    ]),
  ),
];

/** The identity under which a client's secrets are sealed. */
export const secretIdentity = (scope: NumberScope, field: 'token' | 'pin'): string =>
  `client/${clientId(scope)}/${field}`;

export type ClientChange = Partial<
  Omit<Client, '_id' | 'partner_id' | 'waba_id' | 'phone_number_id'>
>;

/** The fields that a registration sets; the others of an existing row are unchanged. */
export type Registration = NumberScope &
  NumberFacts &
  Pick<Client, 'display_name' | 'business_id' | 'token'> &
  ClientChange;

export type Clients = ReturnType<typeof createClients>;

/** Numbers of a partner in one answer of the directory. */
export const LISTED_NUMBERS_MAX = 10_000;
const REFRESH_EVERY_MS = 86_400_000;
/** The upstream's facts about a number are fetched again every day, after those of `at`. */
export const nextRefresh = (at: Date): Date => new Date(at.getTime() + REFRESH_EVERY_MS);

/** Bounds the read: a number is never shared by more partners than this. */
const OWNERS_MAX = 200;
const NUMBERS_MAX = 200;
/** Fetches one extra row to detect more. */
const ALL_NUMBERS_MAX = LISTED_NUMBERS_MAX + 1;

/** An index that begins with the status serves the order behind a list of all of them. */
const ANY_STATUS: { $in: ClientStatus[] } = { $in: ['active', 'deleted'] };

export const CLIENTS = 'clients';
/** How long support can restore a deleted client, with its sealed token and PIN. */
const DELETED_KEPT_DAYS = 180;
export const clientIndexes: Indexes = {
  [CLIENTS]: [
    { key: { partner_id: 1, waba_id: 1, status: 1, registered_at: 1, _id: 1 } },
    { key: { waba_id: 1, status: 1, registered_at: 1, _id: 1 } },
    { key: { phone_number_id: 1 } },
    { key: { partner_id: 1, status: 1, registered_at: 1, _id: 1 } },
    { key: { partner_id: 1, status: 1, last_activity_at: -1 } },
    { key: { status: 1, registered_at: 1, _id: 1 } },
    // Full: rows without a time for a refresh are looked for at every start.
    { key: { status: 1, refresh_due_at: 1 } },
    { key: { sync_retry_at: 1 }, sparse: true },
    { key: { token_checked_at: 1 } },
    { key: { token_expires_at: 1 }, sparse: true },
    dueEventIndex,
    // Null for an active client, which the TTL index ignores.
    { key: { deleted_at: 1 }, expireAfterSeconds: DELETED_KEPT_DAYS * 86_400 },
  ],
};

export const clientCollection = (db: Db): Collection<Client> => db.collection(CLIENTS);

/** Defaults of a new row, without the fields that the registration sets. */
const defaultsOf = (given: Registration, at: Date): Partial<Client> => {
  const defaults: Partial<Client> = {
    pin: null,
    billing: 'active',
    payment_url: null,
    sync_requested: { smb_app_state_sync: null, history: null },
    registered_at: at,
    last_activity_at: null,
    refresh_due_at: nextRefresh(at),
    refresh_tries: 0,
  };
  return Object.fromEntries(Object.entries(defaults).filter(([name]) => !(name in given)));
};

const differing = ({ billing, payment_url }: WaitingBilling): Filter<Client>[] => [
  { billing: { $ne: billing } },
  { payment_url: { $ne: payment_url } },
];

export function createClients(db: Db) {
  const clients = clientCollection(db);
  return {
    ...changesOf(clients),
    ...ownersIn(clients),
    find: (scope: NumberScope) => clients.findOne({ _id: clientId(scope) }),
    findAll: (scopes: NumberScope[]) =>
      clients.find({ _id: { $in: scopes.map(clientId) } }).toArray(),
    /** The active rows of an account, one per number, the oldest registration first. */
    activeOf: ({ partner_id, waba_id }: Scope) =>
      clients
        .find({ partner_id, waba_id, status: 'active' })
        .sort({ registered_at: 1, _id: 1 })
        .limit(NUMBERS_MAX)
        .toArray(),
    /**
     * The active rows of several accounts, in the same order, and those that other partners have of
     * them. Undefined if there are too many to read at once.
     */
    async activeOfAll(scopes: Scope[]) {
      const limit = NUMBERS_MAX * scopes.length;
      const found = await clients
        .find({
          // Two lists would make an index look for each account under each partner.
          waba_id: { $in: [...new Set(scopes.map(({ waba_id }) => waba_id))] },
          status: 'active',
        })
        .sort({ registered_at: 1, _id: 1 })
        .limit(limit)
        .toArray();
      return found.length < limit ? found : undefined;
    },
    /** The numbers of the active rows, the last active first. */
    async numbersOf({ partner_id, waba_id }: { partner_id: string; waba_id?: string | undefined }) {
      const found = await clients
        .find({ partner_id, status: 'active', ...(waba_id !== undefined && { waba_id }) })
        .project<Pick<Client, 'phone_number_id'>>({ phone_number_id: 1 })
        .sort({ last_activity_at: -1 })
        .limit(ALL_NUMBERS_MAX)
        .toArray();
      return found.map(({ phone_number_id }) => phone_number_id);
    },
    /** Clients of one partner; without it, those of all partners, for the operator. */
    async list(
      partner_id: string | undefined,
      status: ClientStatus | 'all',
      { limit, offset }: { limit: number; offset: number },
    ) {
      const filter = {
        ...(partner_id !== undefined && { partner_id }),
        status: status === 'all' ? ANY_STATUS : status,
      };
      const [found, total] = await Promise.all([
        clients.find(filter).sort({ registered_at: 1, _id: 1 }).skip(offset).limit(limit).toArray(),
        clients.countDocuments(filter),
      ]);
      return { clients: found, total };
    },
    /** For the operator: the active clients of all partners that were registered last. */
    newestActive: (limit: number) =>
      clients.find({ status: 'active' }, { sort: { registered_at: -1, _id: -1 }, limit }).toArray(),
    /** Rows with unpublished events. A client that waits for a payment is not connected yet. */
    withEventsDue: (limit: number) =>
      clients
        .find({ ...DUE_EVENTS, $or: [{ billing: 'active' }, { status: 'deleted' }] }, { limit })
        .toArray(),
    forgetEvents: (rows: Client[]) => forgetEvents(db, CLIENTS, rows),
    /** For the operator: the deleted rows of an account, the latest deletion first. */
    deletedOf: ({ partner_id, waba_id }: Scope) =>
      clients
        .find({ partner_id, waba_id, status: 'deleted' })
        .sort({ deleted_at: -1, _id: 1 })
        .limit(NUMBERS_MAX)
        .toArray(),
  };
}

const changesOf = (clients: Collection<Client>) => ({
  /** Inserts the row, or updates and activates it. Returns the row before, or null. */
  upsert: (given: Registration, at: Date, event?: DueEvent) =>
    upsert(() =>
      clients.findOneAndUpdate(
        { _id: clientId(given) },
        {
          $set: {
            ...given,
            connection_mode: 'coexistence',
            status: 'active',
            tier: 'STANDARD',
            health: 'connected',
            deleted_at: null,
            known_since: at,
            known_at: {},
            withdrawn_at: null,
          },
          // The new token is inspected at the next run.
          $unset: { token_checked_at: true, token_expires_at: true },
          $setOnInsert: defaultsOf(given, at),
          ...dueEvent(event),
        },
        { upsert: true, returnDocument: 'before' },
      ),
    ),
  change: (scope: NumberScope, change: ClientChange) =>
    changeOne(clients, { _id: clientId(scope) }, { $set: change }),
  /** Marks the account's active rows as deleted, with an event each. */
  remove: ({ partner_id, waba_id }: Scope, at: Date) =>
    clients.updateMany(
      { partner_id, waba_id, status: 'active' },
      {
        $set: { status: 'deleted', deleted_at: at },
        ...dueEvent({ event: 'client.removed', key: `removed/${at.getTime()}`, at }),
      },
    ),
  /**
   * Sets the billing state of the partner's active rows: the accounts in `waiting` wait, all others
   * may send. Returns the accounts that changed.
   */
  setBilling: (partner_id: string, waiting: ReadonlyMap<string, WaitingBilling>) =>
    setBilling(clients, partner_id, waiting),
  /** For the operator: makes the deleted rows active again, with a refresh of their facts due. */
  async restore(
    { partner_id, waba_id }: Scope,
    place: Pick<Client, 'billing' | 'payment_url'>,
    at: Date,
  ) {
    const facts = { refresh_due_at: at, refresh_tries: 0 };
    await clients.updateMany(
      { partner_id, waba_id, status: 'deleted' },
      {
        $set: { status: 'active', deleted_at: null, ...facts, ...place },
        ...dueEvent({
          event: 'client.connected',
          key: `restored/${at.getTime()}`,
          at,
          data: { state: null },
        }),
      },
    );
  },
});

async function setBilling(
  clients: Collection<Client>,
  partner_id: string,
  waiting: ReadonlyMap<string, WaitingBilling>,
): Promise<string[]> {
  const active: Filter<Client> = { partner_id, status: 'active' };
  const changed: string[] = [];
  const revived: Filter<Client> = {
    ...active,
    billing: { $ne: 'active' },
    waba_id: { $nin: [...waiting.keys()] },
  };
  const names = (await clients.distinct('waba_id', revived)) as string[];
  if (names.length > 0) {
    await clients.updateMany(revived, { $set: { billing: 'active', payment_url: null } });
    changed.push(...names);
  }
  for (const [waba_id, state] of waiting) {
    const { modifiedCount } = await clients.updateMany(
      { ...active, waba_id, $or: differing(state) },
      { $set: state },
    );
    if (modifiedCount > 0) changed.push(waba_id);
  }
  return changed;
}

function ownersIn(clients: Collection<Client>) {
  const owners = (filter: Filter<Client>, limit = OWNERS_MAX): Promise<Client[]> =>
    clients.find({ ...filter, status: 'active' }, { limit }).toArray();
  return {
    /** The active rows of any partner with the number or account, for the directory and events. */
    ownersOfNumber: (phone_number_id: string, waba_id?: string) =>
      owners({ phone_number_id, ...(waba_id !== undefined && { waba_id }) }),
    ownersOfNumbers: (phone_number_ids: string[]) =>
      owners({ phone_number_id: { $in: phone_number_ids } }, OWNERS_MAX * phone_number_ids.length),
    /** Looks for the digits as the account has them, else for their other spelling. */
    async ownersOfDisplayNumber(waba_id: string, phone_number: string) {
      const found = await owners({ waba_id, phone_number: { $in: spellingsOf(phone_number) } });
      const asWritten = found.filter((row) => row.phone_number === phone_number);
      return asWritten.length > 0 ? asWritten : found;
    },
    ownersOfAccount: (waba_id: string) => owners({ waba_id }),
  };
}
