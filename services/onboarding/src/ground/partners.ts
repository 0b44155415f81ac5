// Partners: their keys, limits, webhook address and secrets, and the business accounts that billing
// slots count.
import { isDeepStrictEqual } from 'node:util';
import { ApiError } from '@bmg/common/errors';
import type { Collection, Db, Filter } from 'mongodb';
import type { Indexes } from '@bmg/common/mongo';
import { partnerVersionKey, type PartnerStatus, type Versions } from '@bmg/common/directory';
import type { Contacts, ContactsChange } from './contacts';
import {
  DUE_EVENTS,
  dueEventIndex,
  forgetEvents,
  type DueEvent,
  type HoldsDueEvents,
} from './due-events';
import { changeOne } from './insert';
import { NOTICES_MAX, noticeEvent, noticesKeptSince, type StoredNotice } from './partner-notices';
import { noteChange, type MonthCounts } from './slots';
import type { Sealed } from '@bmg/common/vault';

export interface WebhookSecret {
  sealed: Sealed;
  created_at: Date;
  /** Set by a rotation: until then deliveries carry the signatures of both secrets. */
  expires_at: Date | null;
}

/** A second URL that gets copies of a receiver's events for a while. */
export interface StoredShadow {
  id: string;
  url: string;
  /** Null: compared with the webhook URL. */
  endpoint_id: string | null;
  source: ShadowSource;
  max_per_second: number;
  /** A JSON object with its secret and its headers. */
  sealed: Sealed;
  created_at: Date;
  ends_at: Date;
}

export const SHADOW_SOURCES = ['live', 'last_day'] as const;
export type ShadowSource = (typeof SHADOW_SOURCES)[number];

export interface Partner extends HoldsDueEvents {
  _id: string;
  name: string;
  status: PartnerStatus;
  key_hash: string;
  key_hint: string;
  /** The hash of the key under the previous pepper: sessions were opened with it. */
  renewed_from?: string | null;
  /** The key before the last rotation, as long as it works beside the new one. */
  previous_key?: { key_hash: string; expires_at: Date } | null;
  webhook_url: string | null;
  /** Names of the extra events that the webhook URL gets. Absent: none. */
  extra_events?: string[];
  /** Origins of pages that may open a sign-up and to which it may return. Absent: none listed. */
  connect_origins?: string[];
  webhook_secrets: WebhookSecret[];
  rate_limit_per_sec: number;
  /** Broadcasts to more contacts wait for the approval of a second person; null: none do. */
  approval_above?: number | null;
  max_wabas: number | null;
  /** Accounts with an active client, in the order of registration: the plan limits them. */
  wabas: string[];
  /** Those of `wabas` that are inactive until a payment. Billing slots do not count them. */
  waiting_wabas?: string[];
  /** Active accounts by UTC month, for billing slots. Absent until the first account. */
  months?: MonthCounts;
  /** Thresholds of alerts by cause. */
  alerts?: Readonly<Record<string, string>>;
  /** The address of the sign-up page's picture, and the hash of the picture. */
  logo?: { url: string; id: string } | null;
  /** The addresses to which the operator writes. Absent: none. */
  contacts?: Contacts;
  /** The oldest first. Lists of partners leave them out. */
  notices?: StoredNotice[];
  /** One at a time; it has no effect once `ends_at` has passed. */
  shadow?: StoredShadow;
  created_at: Date;
  updated_at: Date;
}

export type PartnerChange = Partial<
  Pick<
    Partner,
    | 'name'
    | 'status'
    | 'webhook_url'
    | 'extra_events'
    | 'connect_origins'
    | 'rate_limit_per_sec'
    | 'approval_above'
    | 'max_wabas'
    | 'key_hash'
    | 'key_hint'
    | 'previous_key'
    | 'renewed_from'
    | 'webhook_secrets'
    | 'alerts'
    | 'logo'
  >
> &
  ContactsChange;

export type Partners = ReturnType<typeof createPartners>;

export interface Place {
  partner_id: string;
  waba_id: string;
  /** UTC month, YYYY-MM. */
  month: string;
}

/** The accounts that may send, in the order of their places. */
export const activeWabas = ({
  wabas,
  waiting_wabas = [],
}: Pick<Partner, 'wabas' | 'waiting_wabas'>): string[] =>
  waiting_wabas.length === 0 ? wabas : wabas.filter((one) => !waiting_wabas.includes(one));

/** The identity under which a webhook secret is sealed. */
export const webhookSecretIdentity = (partner_id: string, created_at: Date): string =>
  `partner/${partner_id}/webhook_secret/${created_at.getTime()}`;

/** The identity under which the secret and the headers of a shadow are sealed. */
export const shadowIdentity = (partner_id: string, shadow_id: string): string =>
  `partner/${partner_id}/shadow/${shadow_id}`;

/** Returns true if the plan has room for the account, or the account has its place already. */
export const hasRoom = (
  { wabas, max_wabas }: Pick<Partner, 'wabas' | 'max_wabas'>,
  waba_id: string,
): boolean => wabas.includes(waba_id) || max_wabas === null || wabas.length < max_wabas;

export const PARTNERS = 'partners';
export const partnerIndexes: Indexes = {
  [PARTNERS]: [
    { key: { key_hash: 1 }, unique: true },
    { key: { 'previous_key.key_hash': 1 }, sparse: true },
    { key: { alerts: 1 }, sparse: true },
    dueEventIndex,
  ],
};

/** An attempt fails only if another registration of the same partner has just succeeded. */
const CHANGE_TRIES_MAX = 100;
const OLD_HASHES_NAMED_MAX = 10;
/** Those of many partners would be a lot of memory. */
const WITHOUT_NOTICES = { projection: { notices: 0 } } as const;

export const noSuchPartner = (partner_id: string): ApiError =>
  new ApiError('NOT_FOUND', `there is no partner ${partner_id}`);

/** Throws NOT_FOUND if there is none. */
export async function partnerOf(
  partners: Pick<Partners, 'find'>,
  partner_id: string,
): Promise<Partner> {
  const partner = await partners.find(partner_id);
  if (!partner) throw noSuchPartner(partner_id);
  return partner;
}

/** Makes stale what other processes cache of the partner. */
export const bumpPartner = (
  { versions }: { versions: Pick<Versions, 'bump'> },
  partner_id: string,
): Promise<void> => versions.bump([partnerVersionKey(partner_id)]);

export function createPartners(db: Db) {
  const partners: Collection<Partner> = db.collection(PARTNERS);
  const page = (filter: Filter<Partner>, limit: number, after: string | undefined) =>
    partners
      .find({ ...filter, ...(after !== undefined && { _id: { $gt: after } }) }, WITHOUT_NOTICES)
      .sort({ _id: 1 })
      .limit(limit)
      .toArray();
  return {
    ...keysOf(partners),
    ...placesOf(partners),
    ...shadowsAndNotices(partners),
    insert: (partner: Partner) => partners.insertOne(partner),
    find: (partner_id: string) => partners.findOne({ _id: partner_id }),
    findAll: (partner_ids: string[]) =>
      partners.find({ _id: { $in: partner_ids } }, WITHOUT_NOTICES).toArray(),
    /** In order of ID, after `after`. */
    list: (limit: number, after?: string) => page({}, limit, after),
    change: (partner_id: string, change: PartnerChange, updated_at: Date) =>
      changeOne(partners, { _id: partner_id }, { $set: { ...change, updated_at } }),
    /** Replaces the secrets; false if they are no longer those of the given partner. */
    async replaceSecrets(
      { _id, webhook_secrets: [newest] }: Partner,
      webhook_secrets: WebhookSecret[],
      updated_at: Date,
    ) {
      const { matchedCount } = await partners.updateOne(
        {
          _id,
          ...(newest
            ? { 'webhook_secrets.0.sealed.wrapped_key': newest.sealed.wrapped_key }
            : { webhook_secrets: { $size: 0 } }),
        },
        { $set: { webhook_secrets, updated_at } },
      );
      return matchedCount === 1;
    },
    withEventsDue: (limit: number) =>
      partners.find(DUE_EVENTS, WITHOUT_NOTICES).limit(limit).toArray(),
    forgetEvents: (rows: Partner[]) => forgetEvents(db, PARTNERS, rows),
    /** Partners with accounts, in order of ID, after `after`. */
    withWabas: (limit: number, after?: string) =>
      page({ 'wabas.0': { $exists: true } }, limit, after),
    /** Active partners with a threshold for this cause of alerts. */
    watching: (cause: string, limit: number) =>
      partners
        .find(
          {
            alerts: { $exists: true },
            [`alerts.${cause}`]: { $exists: true },
            status: 'active',
          },
          { ...WITHOUT_NOTICES, limit },
        )
        .toArray(),
  };
}

/** The hashes of partner keys. */
const keysOf = (partners: Collection<Partner>) => ({
  findByKeyHash: (key_hash: string) => partners.findOne({ key_hash }),
  /** The partners with one of these keys, present or previous. */
  async findByKeyHashes(key_hashes: string[]) {
    const of = { $in: key_hashes };
    const [present, previous] = await Promise.all([
      partners.find({ key_hash: of }, WITHOUT_NOTICES).toArray(),
      partners.find({ 'previous_key.key_hash': of }, WITHOUT_NOTICES).toArray(),
    ]);
    return [...present, ...previous];
  },
  /** Replaces the hash of a key, present or previous; false if no partner has it. */
  async renewKeyHash(key_hash: string, newest: string) {
    const present = await partners.updateOne(
      { key_hash },
      { $set: { key_hash: newest, renewed_from: key_hash } },
    );
    if (present.matchedCount === 1) return true;
    const previous = await partners.updateOne(
      { 'previous_key.key_hash': key_hash },
      { $set: { 'previous_key.key_hash': newest } },
    );
    return previous.matchedCount === 1;
  },
  /** Keys hashed with another pepper than this ID's (empty: the one without an ID). */
  async keysOfOtherPeppers(pepper_id: string, at: Date) {
    const other = pepper_id === '' ? /\./ : { $not: new RegExp(`^${pepper_id}\\.`) };
    const present = { key_hash: other };
    const previous = {
      'previous_key.key_hash': pepper_id === '' ? other : { $exists: true, ...(other as object) },
      'previous_key.expires_at': { $gt: at },
    };
    const [count, count_previous, first] = await Promise.all([
      partners.countDocuments(present),
      partners.countDocuments(previous),
      partners
        .find({ $or: [present, previous] }, { projection: { _id: 1 } })
        .sort({ _id: 1 })
        .limit(OLD_HASHES_NAMED_MAX)
        .toArray(),
    ]);
    return { count: count + count_previous, partner_ids: first.map(({ _id }) => _id) };
  },
});

const shadowsAndNotices = (partners: Collection<Partner>) => ({
  /** False if the partner has a shadow that has not ended at `at`. */
  async setShadow(_id: string, shadow: StoredShadow, at: Date) {
    const { matchedCount } = await partners.updateOne(
      { _id, $or: [{ shadow: { $exists: false } }, { 'shadow.ends_at': { $lte: at } }] },
      { $set: { shadow } },
    );
    return matchedCount === 1;
  },
  /** Does nothing if the partner has another shadow or none. */
  removeShadow: (_id: string, shadow_id: string) =>
    partners.updateOne({ _id, 'shadow.id': shadow_id }, { $unset: { shadow: '' } }),
  /** Keeps a notice with its event; null without such a partner. */
  async addNotice(_id: string, notice: StoredNotice) {
    const expired = { created_at: { $lt: noticesKeptSince(notice.created_at) } };
    await partners.updateOne({ _id }, { $pull: { notices: expired } });
    const $push = {
      notices: newest<StoredNotice>(notice),
      events_due: newest<DueEvent>(noticeEvent(notice)),
    };
    return changeOne(partners, { _id }, { $push });
  },
});

/** The places of business accounts under the plan's limit. */
function placesOf(partners: Collection<Partner>) {
  /**
   * Changes the accounts and the month's count in one conditional update, so that concurrent
   * changes can neither both take the last place nor miscount the peak. Null if `change` refuses
   * or there is no such partner.
   */
  const changeAccounts = async (
    partner_id: string,
    month: string,
    change: (partner: Partner) => Places | null,
  ): Promise<Partner | null> => {
    for (let tries = 0; tries < CHANGE_TRIES_MAX; tries += 1) {
      const partner = await partners.findOne({ _id: partner_id });
      if (!partner) return null;
      const { wabas, waiting_wabas } = partner;
      const wanted = change(partner);
      if (!wanted) return null;
      if (isDeepStrictEqual(wanted, { wabas, waiting_wabas: waiting_wabas ?? [] })) return partner;
      const months = partner.months ?? {};
      const { peak, last } = noteChange(months, month, {
        before: activeWabas(partner).length,
        after: activeWabas(wanted).length,
      });
      const { matchedCount } = await partners.updateOne(
        // Only while the accounts are as they were read.
        { _id: partner_id, wabas, waiting_wabas: waiting_wabas ?? { $exists: false } },
        {
          $set: { ...wanted, [`months.${month}.last`]: last },
          $max: { [`months.${month}.peak`]: peak },
        },
      );
      if (matchedCount === 1) {
        return { ...partner, ...wanted, months: { ...months, [month]: { peak, last } } };
      }
    }
    throw new Error('failed to change the accounts of a partner: they kept changing');
  };
  const takePlace = async (
    { partner_id, waba_id, month }: Place,
    waits: (waiting: string[], places: Places) => string[] | null,
  ): Promise<boolean> =>
    (await changeAccounts(partner_id, month, (partner) => {
      if (!hasRoom(partner, waba_id)) return null;
      const wabas = withOne(partner.wabas, waba_id);
      const waiting = partner.waiting_wabas ?? [];
      const waiting_wabas = waits(waiting, { wabas, waiting_wabas: waiting });
      return waiting_wabas && { wabas, waiting_wabas };
    })) !== null;
  return {
    /**
     * Takes a place under the plan's limit and makes the account active. False if the plan has no
     * place left or more than `active_max` accounts would be active.
     */
    activateWaba: (place: Place, active_max: number) =>
      takePlace(place, (waiting, { wabas }) => {
        const waiting_wabas = without(waiting, place.waba_id);
        return activeWabas({ wabas, waiting_wabas }).length > active_max ? null : waiting_wabas;
      }),
    /**
     * Takes a place for an account that waits for a payment. False if the plan has no place left or
     * more than `places_max` accounts would have one.
     */
    reserveWaiting: (place: Place, places_max: number) =>
      takePlace(place, (waiting, { wabas }) =>
        wabas.length > places_max ? null : withOne(waiting, place.waba_id),
      ),
    /** Gives the account's place back. */
    releaseWaba: (partner_id: string, waba_id: string, month: string) =>
      changeAccounts(partner_id, month, ({ wabas, waiting_wabas = [] }) => ({
        wabas: without(wabas, waba_id),
        waiting_wabas: without(waiting_wabas, waba_id),
      })),
    /** Sets which accounts wait: `choose` sees the partner as it is when that is stored. */
    chooseWaiting: (partner_id: string, month: string, choose: (partner: Partner) => string[]) =>
      changeAccounts(partner_id, month, (partner) => ({
        wabas: partner.wabas,
        waiting_wabas: choose(partner),
      })),
  };
}

/** Adds one, and drops the oldest beyond the maximum. */
const newest = <T>(one: T) => ({ $each: [one], $slice: -NOTICES_MAX });

type Places = Required<Pick<Partner, 'wabas' | 'waiting_wabas'>>;

export const withOne = (all: string[], one: string): string[] =>
  all.includes(one) ? all : [...all, one];
const without = (all: string[], one: string): string[] => all.filter((other) => other !== one);
