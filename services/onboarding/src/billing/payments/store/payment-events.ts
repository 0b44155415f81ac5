// Payment events: the processor's webhooks by ID, so that a repeated one is recognised. A row
// without `applied_at` was interrupted by a crash: it is applied when the processor repeats the
// event.
import type { Collection, Db } from 'mongodb';
import { storeOnce, type Indexes } from '@bmg/common/mongo';

export interface PaymentEvent {
  _id: string;
  type: string;
  received_at: Date;
  applied_at: Date | null;
}

export type PaymentEvents = ReturnType<typeof createPaymentEvents>;

export const PAYMENT_EVENTS = 'payment_events';
/** The processor repeats events for days; support looks back for weeks. */
const KEPT_S = 60 * 24 * 3_600;
export const paymentEventIndexes: Indexes = {
  [PAYMENT_EVENTS]: [{ key: { received_at: 1 }, expireAfterSeconds: KEPT_S }],
};

export function createPaymentEvents(db: Db) {
  const events: Collection<PaymentEvent> = db.collection(PAYMENT_EVENTS);
  return {
    /** Stores the event. Returns true if it was applied before. */
    async begin({ id, type }: { id: string; type: string }, at: Date) {
      const event = { _id: id, type, received_at: at, applied_at: null };
      if (await storeOnce(() => events.insertOne(event))) return false;
      const known = await events.findOne({ _id: id });
      return known !== null && known.applied_at !== null;
    },
    finish: (id: string, at: Date) => events.updateOne({ _id: id }, { $set: { applied_at: at } }),
  };
}
