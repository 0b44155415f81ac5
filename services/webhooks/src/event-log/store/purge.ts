// The collections that hold data of a client: see deploy/DATA.md.
import type { Collection, Db } from 'mongodb';
import { LONG_CURSOR } from '@bmg/common/mongo';
import type { ClientScope, RewriteRow } from '@bmg/common/purge';
import { ATTEMPTS, type AttemptBatch } from './attempts';
import { bucketIds, EVENT_LOG, type Bucket } from './buckets';
import { withoutAccountAttempts } from '../attempt-log';
import { withoutAccount } from '../bodies';
import type { Packer } from '../packer';

export const eventLogPurgeRows = (packer: Packer): RewriteRow[] => [
  {
    collection: EVENT_LOG,
    of: 'client',
    rewrite: ({ partner_id, waba_id }, db, dry_run) =>
      rewrite<Bucket>(db, EVENT_LOG, {
        ids: bucketIds(partner_id),
        filter: { events: { $elemMatch: { waba_id } } },
        countIn: ({ events }) => events.filter((one) => one.waba_id === waba_id).length,
        without: dry_run ? undefined : (bucket) => withoutAccount(packer, bucket, waba_id),
      }),
  },
  {
    collection: ATTEMPTS,
    of: 'client',
    rewrite: (scope, db, dry_run) =>
      rewrite<AttemptBatch>(db, ATTEMPTS, {
        filter: { attempts: { $elemMatch: { ...scope } } },
        countIn: ({ attempts }) => attempts.filter((one) => isOf(one, scope)).length,
        without: dry_run ? undefined : (batch) => withoutAccountAttempts(packer, batch, scope),
      }),
  },
];

/** Few, because the driver holds a whole batch in memory; a bucket has up to a MiB of content. */
const READ_BATCH = 4;
const ID_PAGE = 500;

const isOf = (one: ClientScope, { partner_id, waba_id }: ClientScope): boolean =>
  one.partner_id === partner_id && one.waba_id === waba_id;

interface Rewrite<T> {
  /** A range of IDs that is read in pages; absent: an index finds the documents. */
  ids?: { $gte: string; $lt: string };
  filter: object;
  countIn(document: T): number;
  /** Absent: the items are only counted. */
  without: ((document: T) => Promise<T>) | undefined;
}

async function rewrite<T extends { _id: string }>(
  db: Db,
  name: string,
  { ids, filter, countIn, without }: Rewrite<T>,
): Promise<number> {
  const collection = db.collection<{ _id: string }>(name, { promoteBuffers: true });
  let items = 0;
  const rewriteAll = async (selected: object): Promise<void> => {
    for await (const found of collection.find(selected, LONG_CURSOR).batchSize(READ_BATCH)) {
      const document = found as unknown as T;
      items += countIn(document);
      if (without) await collection.replaceOne({ _id: document._id }, await without(document));
    }
  };
  if (!ids) await rewriteAll(filter);
  else {
    for await (const page of pagesOf(collection, ids)) await rewriteAll({ _id: page, ...filter });
  }
  return items;
}

/** Ranges of at most ID_PAGE documents, so that no command searches a partner's whole log. */
async function* pagesOf(
  collection: Collection<{ _id: string }>,
  { $gte, $lt }: { $gte: string; $lt: string },
): AsyncIterable<{ $gte: string; $lte: string }> {
  let found: Array<{ _id: string }>;
  let range: { $gte: string; $lt: string } | { $gt: string; $lt: string } = { $gte, $lt };
  do {
    found = await collection
      .find({ _id: range })
      .project<{ _id: string }>({ _id: 1 })
      .sort({ _id: 1 })
      .limit(ID_PAGE)
      .toArray();
    const [first, last] = [found[0], found.at(-1)];
    if (!first || !last) return;
    yield { $gte: first._id, $lte: last._id };
    range = { $gt: last._id, $lt };
  } while (found.length === ID_PAGE);
}
