// Partners: who may call, under which key, with which settings.
import type { Collection, Db, IndexDescription } from 'mongodb';
import { noteChange, type MonthCounts } from '../slots';
import type { Sealed } from '../vault';

export type PartnerStatus = 'active' | 'suspended' | 'subscription_cancelled' | 'trial_expired';

export interface WebhookSecret {
  sealed: Sealed;
  created_at: Date;
  /** Set once a newer one has taken over: until then deliveries carry both signatures. */
  expires_at: Date | null;
}

export interface Partner {
  _id: string;
  name: string;
  status: PartnerStatus;
  key_hash: string;
  key_hint: string;
  webhook_url: string | null;
  webhook_secrets: WebhookSecret[];
  rate_limit_per_sec: number;
  max_wabas: number | null;
  /** Business accounts with an active client: what the plan's limit counts. */
  wabas: string[];
  /** By UTC month: what slots are counted from. Absent until the first account came. */
  months?: MonthCounts;
  created_at: Date;
  updated_at: Date;
}

export type PartnerChange = Partial<
  Pick<
    Partner,
    | 'name'
    | 'status'
    | 'webhook_url'
    | 'rate_limit_per_sec'
    | 'max_wabas'
    | 'key_hash'
    | 'key_hint'
    | 'webhook_secrets'
  >
>;

export interface Partners {
  insert(partner: Partner): Promise<void>;
  findByKeyHash(key_hash: string): Promise<Partner | null>;
  find(partner_id: string): Promise<Partner | null>;
  /** In order of id, after `after`. */
  list(limit: number, after?: string): Promise<Partner[]>;
  change(partner_id: string, change: PartnerChange, at: Date): Promise<Partner | null>;
  /** Takes a place for an account under the plan's limit; false when there is none left. */
  reserveWaba(partner_id: string, waba_id: string, month: string): Promise<boolean>;
  releaseWaba(partner_id: string, waba_id: string, month: string): Promise<void>;
}

/** The identity under which a webhook secret is sealed. */
export const webhookSecretIdentity = (partner_id: string, created_at: Date): string =>
  `partner/${partner_id}/webhook_secret/${created_at.getTime()}`;

/** Whether the plan has room for the account: always for one that has its place already. */
export const hasRoom = (
  { wabas, max_wabas }: Pick<Partner, 'wabas' | 'max_wabas'>,
  waba_id: string,
): boolean => wabas.includes(waba_id) || max_wabas === null || wabas.length < max_wabas;

export const PARTNERS = 'partners';
export const partnerIndexes: IndexDescription[] = [{ key: { key_hash: 1 }, unique: true }];

/** Each try fails only because another registration of the same partner has just succeeded. */
const COUNT_TRIES_MAX = 100;

const collection = (db: Db): Collection<Partner> => db.collection(PARTNERS);

export function createPartners(db: Db): Partners {
  const partners = collection(db);
  /**
   * Adds or takes away an account together with the month's count of it: one conditional update, so that
   * two at once can neither both take the last place nor miscount the peak.
   */
  const count = async (
    partner_id: string,
    month: string,
    change: (partner: Partner) => { after: number; update: object } | null,
  ): Promise<boolean> => {
    for (let tries = 0; tries < COUNT_TRIES_MAX; tries += 1) {
      const partner = await partners.findOne({ _id: partner_id });
      if (!partner) return false;
      const before = partner.wabas.length;
      const wanted = change(partner);
      if (!wanted) return false;
      if (wanted.after === before) return true;
      const { peak, last } = noteChange(partner.months ?? {}, month, {
        before,
        after: wanted.after,
      });
      const { matchedCount } = await partners.updateOne(
        { _id: partner_id, wabas: { $size: before } },
        {
          ...wanted.update,
          $max: { [`months.${month}.peak`]: peak },
          $set: { [`months.${month}.last`]: last },
        },
      );
      if (matchedCount === 1) return true;
    }
    throw new Error('the accounts of a partner changed too often to count them');
  };
  return {
    async insert(partner) {
      await partners.insertOne(partner);
    },
    findByKeyHash: (key_hash) => partners.findOne({ key_hash }),
    find: (partner_id) => partners.findOne({ _id: partner_id }),
    list: (limit, after) =>
      partners
        .find(after === undefined ? {} : { _id: { $gt: after } })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray(),
    change: (partner_id, change, at) =>
      partners.findOneAndUpdate(
        { _id: partner_id },
        { $set: { ...change, updated_at: at } },
        { returnDocument: 'after' },
      ),
    reserveWaba: (partner_id, waba_id, month) =>
      count(partner_id, month, (partner) => {
        if (!hasRoom(partner, waba_id)) return null;
        const { wabas } = partner;
        const after = wabas.includes(waba_id) ? wabas.length : wabas.length + 1;
        return { after, update: { $addToSet: { wabas: waba_id } } };
      }),
    async releaseWaba(partner_id, waba_id, month) {
      await count(partner_id, month, ({ wabas }) => ({
        after: wabas.filter((one) => one !== waba_id).length,
        update: { $pull: { wabas: waba_id } },
      }));
    },
  };
}
