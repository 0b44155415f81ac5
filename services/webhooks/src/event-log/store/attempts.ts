// The collection `attempts`: delivery attempts that ended after their event was logged, many in a
// document. Those that ended before are in the event's bucket.
import type { Collection, Db } from 'mongodb';
import { newId } from '@bmg/common/ids';
import type { Indexes } from '@bmg/common/mongo';
import type { Packed } from '../packer';
import type { StoredAttempt } from './buckets';

export interface EventAttempt extends StoredAttempt {
  event_id: string;
  partner_id: string;
  waba_id: string;
}

export interface AttemptBatch {
  _id: string;
  attempts: EventAttempt[];
  /** The receivers' answers: a JSON array beside `attempts`. */
  packed: Packed;
  expires_at: Date;
}

export const ATTEMPTS = 'attempts';
export const attemptIndexes: Indexes = {
  [ATTEMPTS]: [
    // The id in it gives the newest from the index, however many an event has.
    { key: { 'attempts.event_id': 1, _id: 1 } },
    { key: { 'attempts.partner_id': 1, 'attempts.waba_id': 1 } },
    { key: { expires_at: 1 }, expireAfterSeconds: 0 },
  ],
};

/** Documents that the driver holds in memory at a time. */
const READ_BATCH = 20;

export const attemptsIdentity = (id: string): string => `attempts/${id}`;
export const newBatchId = (): string => newId('att');

export type Attempts = ReturnType<typeof createAttempts>;

export function createAttempts(db: Db) {
  const attempts: Collection<AttemptBatch> = db.collection(ATTEMPTS, { promoteBuffers: true });
  return {
    async insert(batch: AttemptBatch): Promise<void> {
      await attempts.insertOne(batch);
    },
    /** The newest batches with an attempt of one of these events, newest first. */
    newest: (
      event_ids: string[],
      limit: number,
      with_answers: boolean,
    ): AsyncIterable<Omit<AttemptBatch, 'packed'> & { packed?: Packed }> =>
      attempts
        .find({ 'attempts.event_id': { $in: event_ids } })
        .project<AttemptBatch>(with_answers ? {} : { packed: 0 })
        .sort({ _id: -1 })
        .limit(limit)
        .batchSize(READ_BATCH),
  };
}
