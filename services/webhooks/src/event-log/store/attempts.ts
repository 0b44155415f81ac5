// The collection `attempts`: delivery attempts that ended after their event was logged, many in a
// document. Those that ended before are in the event's bucket.
import type { Collection, Db, IndexDescription } from 'mongodb';
import { newId } from '@bmg/common/ids';
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

export interface Attempts {
  insert(batch: AttemptBatch): Promise<void>;
  /** The newest batches with an attempt of one of these events, newest first. */
  newest(
    event_ids: string[],
    limit: number,
    with_answers: boolean,
  ): AsyncIterable<Omit<AttemptBatch, 'packed'> & { packed?: Packed }>;
}

export const ATTEMPTS = 'attempts';
export const attemptIndexes: IndexDescription[] = [
  // With the id the newest come from the index, however many an event has.
  { key: { 'attempts.event_id': 1, _id: 1 } },
  { key: { 'attempts.partner_id': 1, 'attempts.waba_id': 1 } },
  { key: { expires_at: 1 }, expireAfterSeconds: 0 },
];

/** Documents that the driver holds in memory at a time. */
const READ_BATCH = 20;

export const attemptsIdentity = (id: string): string => `attempts/${id}`;
export const newBatchId = (): string => newId('att');

export function createAttempts(db: Db): Attempts {
  const attempts: Collection<AttemptBatch> = db.collection(ATTEMPTS, { promoteBuffers: true });
  return {
    async insert(batch) {
      await attempts.insertOne(batch);
    },
    newest: (event_ids, limit, with_answers) =>
      attempts
        .find({ 'attempts.event_id': { $in: event_ids } })
        .project<AttemptBatch>(with_answers ? {} : { packed: 0 })
        .sort({ _id: -1 })
        .limit(limit)
        .batchSize(READ_BATCH),
  };
}
