// Deletes a client's data on request. Each service lists its collections and the filter of a
// client's documents; the rules (when deletion is allowed, which data other partners share) are
// here.
import type { Db, Document, Filter } from 'mongodb';
import { DataDefinition, type Purged } from '@bmg/proto/data';
import type { DirectoryDefinition } from '@bmg/proto/onboarding';
import { invalidField, missingFields } from '../errors';
import { deleteInPages } from '../mongo';
import { implement, type Call, type Client, type Implementation } from '../rpc';
import type { Logger } from '../telemetry';

export interface ClientScope {
  partner_id: string;
  waba_id: string;
}

export interface PurgeRow {
  collection: string;
  /**
   * `client`: belongs to this partner. `account`: belongs to the business account, and is deleted
   * once no partner has an active client of it.
   */
  of: 'client' | 'account';
}

export interface FilterRow extends PurgeRow {
  /** The documents to delete. A collection that filters of others query comes last. */
  filter(scope: ClientScope, db: Db): Filter<Document> | Promise<Filter<Document>>;
}

/** For a collection whose documents hold data of several clients. */
export interface RewriteRow extends PurgeRow {
  /** Removes the client's items from their documents; returns how many there were. */
  rewrite(scope: ClientScope, db: Db, dry_run: boolean): Promise<number>;
}

export interface PurgeDependencies {
  /** For background work: a client may have millions of documents. */
  db: Db;
  rows: Array<FilterRow | RewriteRow>;
  /** The partners with an active client of the business account. */
  owners(waba_id: string, call: Call): Promise<string[]>;
  log: Logger;
}

/** Reads the owners from the directory: for every service but onboarding, which owns it. */
export const ownersFrom =
  (directory: Client<DirectoryDefinition>): PurgeDependencies['owners'] =>
  async (waba_id, call) =>
    (await directory.getOwners({ waba_id, all_active: true }, call)).partner_ids;

/** Documents whose id begins with `prefix`, found by the index on ids. */
export function below(prefix: string): Filter<Document> {
  const last = prefix.charCodeAt(prefix.length - 1);
  const behind = prefix.slice(0, -1) + String.fromCharCode(last + 1);
  return { _id: { $gte: prefix, $lt: behind } } as unknown as Filter<Document>;
}

export function createPurge({ db, rows, owners, log }: PurgeDependencies): Implementation {
  const purge = async (
    row: FilterRow | RewriteRow,
    scope: ClientScope,
    dry_run: boolean,
  ): Promise<number> => {
    if ('rewrite' in row) return row.rewrite(scope, db, dry_run);
    const collection = db.collection(row.collection);
    const filter = await row.filter(scope, db);
    if (dry_run) return collection.countDocuments(filter);
    return deleteInPages(collection, filter);
  };
  return implement(DataDefinition, {
    async purgeClient({ partner_id, waba_id, dry_run }, call) {
      const missing = Object.entries({ partner_id, waba_id }).flatMap(([name, value]) =>
        value === '' ? [name] : [],
      );
      if (missing.length > 0) throw missingFields(missing);
      const having = await owners(waba_id, call);
      if (having.includes(partner_id)) {
        throw invalidField('waba_id', 'names an active client: delete it first');
      }
      const purged: Purged[] = [];
      for (const row of rows) {
        const kept_for_others = row.of === 'account' && having.length > 0;
        const documents = kept_for_others ? 0 : await purge(row, { partner_id, waba_id }, dry_run);
        purged.push({ collection: row.collection, documents, kept_for_others });
      }
      if (!dry_run) log.info({ partner_id, waba_id, purged }, 'purged client data');
      return { purged };
    },
  });
}
