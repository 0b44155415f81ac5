// Deletes any number of documents by commands that each end in seconds.
import type { Collection, Document, Filter } from 'mongodb';

const PAGE = 1_000;

/** Resolves to the number of deleted documents. An interrupted deletion may be repeated. */
export async function deleteInPages<T extends Document>(
  collection: Collection<T>,
  filter: Filter<T>,
): Promise<number> {
  for (let deleted = 0; ;) {
    const page = await collection.find(filter, { projection: { _id: 1 }, limit: PAGE }).toArray();
    const ids = page.map(({ _id }) => _id);
    const those = { $and: [filter, { _id: { $in: ids } }] } as Filter<T>;
    if (ids.length > 0) deleted += (await collection.deleteMany(those)).deletedCount;
    if (ids.length < PAGE) return deleted;
  }
}
