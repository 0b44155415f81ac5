// The collections that hold data of a client: see deploy/DATA.md.
import type { Db } from 'mongodb';
import type { ClientScope, FilterRow, RewriteRow } from '@bmg/common/purge';
import { ATTEMPTS, type AttemptBatch } from './attempts';
import { DELIVERIES } from './deliveries';
import { EVENT_LOG, type Bucket } from './event-log';
import { withoutAccountAttempts } from '../event-log/attempt-log';
import { withoutAccount } from '../event-log/bodies';
import type { Packer } from '../event-log/packer';

export const createPurgeRows = (packer: Packer): Array<FilterRow | RewriteRow> => [
  {
    collection: DELIVERIES,
    of: 'client',
    filter: ({ partner_id, waba_id }) => ({ partner_id, waba_id }),
  },
  {
    collection: EVENT_LOG,
    of: 'client',
    rewrite: ({ partner_id, waba_id }, db, dry_run) =>
      rewrite<Bucket>(db, EVENT_LOG, {
        filter: { partner_id, events: { $elemMatch: { waba_id } } },
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

const isOf = (one: ClientScope, { partner_id, waba_id }: ClientScope): boolean =>
  one.partner_id === partner_id && one.waba_id === waba_id;

interface Rewrite<T> {
  filter: object;
  countIn(document: T): number;
  /** Absent: the items are only counted. */
  without: ((document: T) => Promise<T>) | undefined;
}

async function rewrite<T extends { _id: string }>(
  db: Db,
  name: string,
  { filter, countIn, without }: Rewrite<T>,
): Promise<number> {
  const collection = db.collection<{ _id: string }>(name, { promoteBuffers: true });
  let items = 0;
  for await (const found of collection.find(filter)) {
    const document = found as unknown as T;
    items += countIn(document);
    if (without) await collection.replaceOne({ _id: document._id }, await without(document));
  }
  return items;
}
