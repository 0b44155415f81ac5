// Billing accounts: one row per partner that uses the payment processor. It holds the partner's
// customer ID, the time of the next review of its bill, and the hold of the worker that has it: one
// at a time.
import type { Collection, Db, IndexDescription } from 'mongodb';
import { isDuplicateKey } from '@bmg/common/mongo';

export interface BillingAccount {
  _id: string;
  customer_id: string | null;
  /**
   * Part of the idempotency keys: raised after an error that the processor would repeat for the
   * same key.
   */
  generation: number;
  due_at: Date;
  /** Set when a card was put on file: refused charges are tried again. */
  retry_at: Date | null;
  holder: string;
  lease_until: Date;
  created_at: Date;
}

export interface Hold {
  holder: string;
  until: Date;
}

export interface BillingAccounts {
  /** The partner's row; a new one falls due at `due_at`. */
  ensure(partner_id: string, due_at: Date, at: Date): Promise<BillingAccount>;
  find(partner_id: string): Promise<BillingAccount | null>;
  findByCustomer(customer_id: string): Promise<BillingAccount | null>;
  /** Returns the customer ID that counts: the one recorded first. */
  recordCustomer(partner_id: string, customer_id: string): Promise<string>;
  nextGeneration(partner_id: string, generation: number): Promise<void>;
  /** False while another worker holds the row. */
  hold(partner_id: string, hold: Hold, now: Date): Promise<boolean>;
  renew(partner_id: string, hold: Hold): Promise<void>;
  release(partner_id: string, holder: string): Promise<void>;
  /** Takes a due row that no worker holds; it falls due again when the hold expires. */
  claimDue(now: Date, hold: Hold): Promise<BillingAccount | null>;
  /** Moves the due time forward to `at`; a row that is due earlier stays so. */
  bringForward(partner_id: string, at: Date): Promise<void>;
  /** Falls due at `next`, unless it was brought forward since it was claimed until `claimed`. */
  postpone(partner_id: string, claimed: Date, next: Date): Promise<void>;
  requestRetry(partner_id: string, at: Date): Promise<void>;
  /** Ends the retry of `requested`, unless a newer card has requested another one. */
  clearRetry(partner_id: string, requested: Date): Promise<void>;
}

export const BILLING_ACCOUNTS = 'billing_accounts';
export const billingAccountIndexes: IndexDescription[] = [
  { key: { due_at: 1 } },
  { key: { customer_id: 1 }, sparse: true },
];

const FREE = new Date(0);

export function createBillingAccounts(db: Db): BillingAccounts {
  const accounts: Collection<BillingAccount> = db.collection(BILLING_ACCOUNTS);
  return {
    async ensure(partner_id, due_at, at) {
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
      try {
        await accounts.insertOne(created);
        return created;
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        return (await accounts.findOne({ _id: partner_id })) as BillingAccount;
      }
    },
    find: (partner_id) => accounts.findOne({ _id: partner_id }),
    findByCustomer: (customer_id) => accounts.findOne({ customer_id }),
    async recordCustomer(partner_id, customer_id) {
      await accounts.updateOne({ _id: partner_id, customer_id: null }, { $set: { customer_id } });
      return (await accounts.findOne({ _id: partner_id }))?.customer_id ?? customer_id;
    },
    async nextGeneration(partner_id, generation) {
      await accounts.updateOne({ _id: partner_id, generation }, { $inc: { generation: 1 } });
    },
    async hold(partner_id, { holder, until }, now) {
      const { matchedCount } = await accounts.updateOne(
        { _id: partner_id, lease_until: { $lte: now } },
        { $set: { holder, lease_until: until } },
      );
      return matchedCount === 1;
    },
    async renew(partner_id, { holder, until }) {
      await accounts.updateOne({ _id: partner_id, holder }, { $set: { lease_until: until } });
    },
    async release(partner_id, holder) {
      await accounts.updateOne({ _id: partner_id, holder }, { $set: { lease_until: FREE } });
    },
    claimDue: (now, { holder, until }) =>
      accounts.findOneAndUpdate(
        { due_at: { $lte: now }, lease_until: { $lte: now } },
        { $set: { holder, lease_until: until, due_at: until } },
        { returnDocument: 'before' },
      ),
    async bringForward(partner_id, at) {
      await accounts.updateOne({ _id: partner_id }, { $min: { due_at: at } });
    },
    async postpone(partner_id, claimed, next) {
      await accounts.updateOne({ _id: partner_id, due_at: claimed }, { $set: { due_at: next } });
    },
    async requestRetry(partner_id, at) {
      await accounts.updateOne({ _id: partner_id }, { $set: { retry_at: at, due_at: at } });
    },
    async clearRetry(partner_id, requested) {
      await accounts.updateOne(
        { _id: partner_id, retry_at: requested },
        { $set: { retry_at: null } },
      );
    },
  };
}
