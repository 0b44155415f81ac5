// Adds records to documents in batches, each of which counts once.
import { groupBy } from '@bmg/common/collections';
import { newId } from '@bmg/common/ids';
import { createBatchWriter, storeOnce, upsert } from '@bmg/common/mongo';

/** A busy receiver ends many attempts in this time: they share a write. */
const APART_MS = 500;
const RETRY_MS = 1_000;
/** Additions that a document remembers: a replica repeats its latest one only. */
const ADDED_MAX = 20;

/** The change that makes a document remember an addition, for `$push`. */
export const remembered = (id: string) => ({ $each: [id], $slice: -ADDED_MAX });

interface Recorded<T> {
  key: string;
  record: T;
}

interface Addition<T> {
  key: string;
  id: string;
  records: T[];
}

/**
 * Calls `add` for the records of each key. A batch that is repeated after an error has the same
 * additions, so that those with an ID that is stored already can be left out.
 */
export function createRecorder<T>(
  add: (key: string, id: string, records: T[]) => Promise<void>,
  onFailed: (error: unknown, key: string) => void,
) {
  const additions = new WeakMap<Recorded<T>, Addition<T>>();
  const writer = createBatchWriter<Recorded<T>>(
    async (batch) => {
      const fresh = batch.filter((one) => !additions.has(one));
      for (const [key, found] of groupBy(fresh, (one) => one.key)) {
        const addition = { key, id: newId('add'), records: found.map(({ record }) => record) };
        for (const one of found) additions.set(one, addition);
      }
      const all = new Set(batch.map((one) => additions.get(one) as Addition<T>));
      for (const { key, id, records } of all) await add(key, id, records);
    },
    { apart_ms: APART_MS, retry_ms: RETRY_MS },
  );
  return {
    /** Does not wait for the store. */
    record: (key: string, record: T): void =>
      void writer.add({ key, record }).catch((error: unknown) => onFailed(error, key)),
    drain: writer.drain,
  };
}

/** An upsert whose document has the addition already would insert it a second time, and fails. */
export async function once(write: () => Promise<unknown>): Promise<void> {
  // It is run again where another replica has inserted the document just now.
  await storeOnce(() => upsert(write));
}
