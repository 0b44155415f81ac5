// The links of the audit log's chain.
import { isDuplicateKey } from '@bmg/common/mongo';
import type { Collection, Db, IndexDescription } from 'mongodb';
import type { Link } from './chain';
import { AUDIT_KEPT_DAYS } from './store';

export interface AuditChain {
  newest(): Promise<Link | undefined>;
  /** From this one down, newest first. */
  page(before: number, limit: number): Promise<Link[]>;
  /** Returns false if another replica has made the link. */
  add(link: Link): Promise<boolean>;
  /** The oldest links that wait for the destination. */
  unsent(limit: number): Promise<Link[]>;
  countUnsent(): Promise<number>;
  noteSent(number: number): Promise<void>;
}

export const AUDIT_CHAIN = 'audit_chain';
export const auditChainIndexes: IndexDescription[] = [
  { key: { unsent: 1, _id: 1 }, sparse: true },
  { key: { at: 1 }, expireAfterSeconds: (AUDIT_KEPT_DAYS + 1) * 86_400 },
];

export function createAuditChain(db: Db): AuditChain {
  const links: Collection<Link> = db.collection(AUDIT_CHAIN);
  const WAITING = { unsent: true } as const;
  return {
    async newest() {
      return (await links.find().sort({ _id: -1 }).limit(1).next()) ?? undefined;
    },
    page: (before, limit) =>
      links
        .find({ _id: { $lt: before } })
        .sort({ _id: -1 })
        .limit(limit)
        .toArray(),
    async add(link) {
      try {
        await links.insertOne(link);
        return true;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },
    unsent: (limit) => links.find(WAITING).sort({ _id: 1 }).limit(limit).toArray(),
    countUnsent: () => links.countDocuments(WAITING),
    async noteSent(number) {
      await links.updateOne({ _id: number }, { $unset: { unsent: 1 } });
    },
  };
}
