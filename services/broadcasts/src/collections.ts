// All indexes of the service, and which documents belong to a client (deploy/DATA.md). Broadcasts
// are purged last: the other documents are found through them, so that an interrupted purge can be
// repeated.
import type { Indexes } from '@bmg/common/mongo';
import { broadcastIndexes, BROADCASTS } from './records/broadcasts';
import type { Db, Document, Filter } from 'mongodb';
import { below, type ClientScope, type FilterRow } from '@bmg/common/purge';
import { chunkIds } from './ground/request-id';
import type { Broadcast } from './ground/types';

export const indexes: Indexes = { [BROADCASTS]: broadcastIndexes };

async function chunksOf({ partner_id, waba_id }: ClientScope, db: Db): Promise<Filter<Document>> {
  const broadcasts = await db
    .collection<Broadcast>(BROADCASTS)
    .find({ partner_id, waba_id })
    .project<Pick<Broadcast, '_id' | 'chunk_count'>>({ chunk_count: 1 })
    .toArray();
  return { _id: { $in: broadcasts.flatMap(chunkIds) } } as unknown as Filter<Document>;
}

export const purgeRows: FilterRow[] = [
  { collection: 'contacts', of: 'client', filter: chunksOf },
  { collection: 'chunks', of: 'client', filter: chunksOf },
  {
    collection: BROADCASTS,
    of: 'client',
    filter: ({ partner_id, waba_id }) => ({ partner_id, waba_id }),
  },
  {
    collection: 'template_states',
    of: 'account',
    filter: ({ waba_id }) => below(`${JSON.stringify([waba_id]).slice(0, -1)},`),
  },
];
