// Payment events: the processor's webhooks by ID, so that a repeated one is recognised. A row
// without `applied_at` was interrupted by a crash: it is applied when the processor repeats the
// event.
import type { Collection, Db, IndexDescription } from 'mongodb';
import { isDuplicateKey } from '@bmg/common/mongo';

interface PaymentEvent {
  _id: string;
  type: string;
  received_at: Date;
  applied_at: Date | null;
}

export interface PaymentEvents {
  /** Stores the event. Returns true if it was applied before. */
  begin(event: { id: string; type: string }, at: Date): Promise<boolean>;
  finish(id: string, at: Date): Promise<void>;
}

export const PAYMENT_EVENTS = 'payment_events';
/** The processor repeats events for days; support looks back for weeks. */
const KEPT_S = 60 * 24 * 3_600;
export const paymentEventIndexes: IndexDescription[] = [
  { key: { received_at: 1 }, expireAfterSeconds: KEPT_S },
];

export function createPaymentEvents(db: Db): PaymentEvents {
  const events: Collection<PaymentEvent> = db.collection(PAYMENT_EVENTS);
  return {
    async begin({ id, type }, at) {
      try {
        await events.insertOne({ _id: id, type, received_at: at, applied_at: null });
        return false;
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        const known = await events.findOne({ _id: id });
        return known !== null && known.applied_at !== null;
      }
    },
    async finish(id, at) {
      await events.updateOne({ _id: id }, { $set: { applied_at: at } });
    },
  };
}
