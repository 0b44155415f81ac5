// Billing accounts: one row per partner that uses the payment processor. It holds the partner's
// customer ID, the time of the next review of its bill, and the hold of the worker that has it: one
// at a time.
import type { Collection, Db } from 'mongodb';
import { storeOnce, type Indexes } from '@bmg/common/mongo';
import type { Lease } from '../../../ground/lease';

export interface BillingAccount {
  _id: string;
  customer_id: string | null;
  /** Part of idempotency keys: raised after an error that the processor would repeat. */
  generation: number;
  due_at: Date;
  /** Set when a card was put on file: refused charges are tried again. */
  retry_at: Date | null;
  holder: string;
  lease_until: Date;
  created_at: Date;
}

export type BillingAccounts = ReturnType<typeof createBillingAccounts>;

export const BILLING_ACCOUNTS = 'billing_accounts';
export const billingAccountIndexes: Indexes = {
  [BILLING_ACCOUNTS]: [{ key: { due_at: 1 } }, { key: { customer_id: 1 }, sparse: true }],
};

const FREE = new Date(0);

export function createBillingAccounts(db: Db) {
  const accounts: Collection<BillingAccount> = db.collection(BILLING_ACCOUNTS);
  return {
    /** The partner's row; a new one falls due at `due_at`. */
    async ensure(partner_id: string, due_at: Date, at: Date) {
      const found = await accounts.findOne({ _id: partner_id });
      if (found) return found;
      const created: BillingAccount = {
        _id: partner_id,
        customer_id: null,
        generation: 0,
        due_at,
        retry_at: null,
        holder: '',
        lease_until: FREE,
        created_at: at,
      };
      if (await storeOnce(() => accounts.insertOne(created))) return created;
      return (await accounts.findOne({ _id: partner_id })) as BillingAccount;
    },
    find: (partner_id: string) => accounts.findOne({ _id: partner_id }),
    findByCustomer: (customer_id: string) => accounts.findOne({ customer_id }),
    /** Returns the customer ID that counts: the one recorded first. */
    async recordCustomer(partner_id: string, customer_id: string) {
      await accounts.updateOne({ _id: partner_id, customer_id: null }, { $set: { customer_id } });
      return (await accounts.findOne({ _id: partner_id }))?.customer_id ?? customer_id;
    },
    nextGeneration: (partner_id: string, generation: number) =>
      accounts.updateOne({ _id: partner_id, generation }, { $inc: { generation: 1 } }),
    /** False while another worker holds the row. */
    async hold(partner_id: string, { holder, until }: Lease, now: Date) {
      const { matchedCount } = await accounts.updateOne(
        { _id: partner_id, lease_until: { $lte: now } },
        { $set: { holder, lease_until: until } },
      );
      return matchedCount === 1;
    },
    renew: (partner_id: string, { holder, until }: Lease) =>
      accounts.updateOne({ _id: partner_id, holder }, { $set: { lease_until: until } }),
    release: (partner_id: string, holder: string) =>
      accounts.updateOne({ _id: partner_id, holder }, { $set: { lease_until: FREE } }),
    /** Takes a due row that no worker holds; it falls due again when the hold expires. */
    claimDue: (now: Date, { holder, until }: Lease) =>
      accounts.findOneAndUpdate(
        { due_at: { $lte: now }, lease_until: { $lte: now } },
        { $set: { holder, lease_until: until, due_at: until } },
        { returnDocument: 'before' },
      ),
    /** Moves the due time forward to `at`; a row that is due earlier stays so. */
    bringForward: (partner_id: string, at: Date) =>
      accounts.updateOne({ _id: partner_id }, { $min: { due_at: at } }),
    /** Falls due at `next`, unless it was brought forward since it was claimed until `claimed`. */
    postpone: (partner_id: string, claimed: Date, next: Date) =>
      accounts.updateOne({ _id: partner_id, due_at: claimed }, { $set: { due_at: next } }),
    requestRetry: (partner_id: string, at: Date) =>
      accounts.updateOne({ _id: partner_id }, { $set: { retry_at: at, due_at: at } }),
    /** Ends the retry of `requested`, unless a newer card has requested another one. */
    clearRetry: (partner_id: string, requested: Date) =>
      accounts.updateOne({ _id: partner_id, retry_at: requested }, { $set: { retry_at: null } }),
  };
}
