// Adds records to documents in batches, each of which counts once.
import { groupBy } from '@bmg/common/collections';
import { newId } from '@bmg/common/ids';
import { createBatchWriter, isDuplicateKey, type BatchWriter } from '@bmg/common/mongo';

/** A busy receiver ends many attempts in this time: they share a write. */
const APART_MS = 500;
const RETRY_MS = 1_000;
/** Additions that a document remembers: a replica repeats its latest one only. */
export const ADDED_MAX = 20;

/** The change that makes a document remember an addition, for `$push`. */
export const remembered = (id: string) => ({ $each: [id], $slice: -ADDED_MAX });

interface Addition<T> {
  id: string;
  records: T[];
}

/**
 * Calls `add` for the records of each key. A batch that is repeated after an error has the same additions, so that
 * those with an ID that is stored already can be left out.
 */
export function createAdditionWriter<T extends object>(
  keyOf: (record: T) => string,
  add: (id: string, records: T[]) => Promise<void>,
): BatchWriter<T> {
  const additions = new WeakMap<T, Addition<T>>();
  return createBatchWriter<T>(
    async (batch) => {
      const fresh = batch.filter((one) => !additions.has(one));
      for (const records of groupBy(fresh, keyOf).values()) {
        const addition = { id: newId('add'), records };
        for (const one of records) additions.set(one, addition);
      }
      const all = new Set(batch.map((one) => additions.get(one) as Addition<T>));
      for (const { id, records } of all) await add(id, records);
    },
    { apart_ms: APART_MS, retry_ms: RETRY_MS },
  );
}

/** An upsert whose document has the addition already would insert it a second time, and fails. */
export async function once(upsert: () => Promise<unknown>): Promise<void> {
  try {
    await upsert();
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    // Or another replica has inserted the document just now.
    await upsert().catch((again: unknown) => {
      if (!isDuplicateKey(again)) throw again;
    });
  }
}
