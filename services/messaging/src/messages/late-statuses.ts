// Statuses that arrive after the month of their message was closed.
import type { Collection } from 'mongodb';
import type { ChargeFacts } from '../pricing';
import type { MessageRecord } from './message-record';
import { isCharging, keyOf, textOf, type StatusUpdate } from './status-writes';

/** A closed month never changes: later statuses are booked in the current month. */
export interface ClosedMonths {
  /** The first moment after the closed months; undefined if none is closed. */
  end(): Promise<Date | undefined>;
  /** Books statuses of messages that were sent in a closed month, in order. */
  addLate(late: LateStatus[]): Promise<void>;
}

export interface LateStatus {
  record: MessageRecord;
  update: StatusUpdate & { charge: ChargeFacts };
}

export const NONE_CLOSED: ClosedMonths = {
  end: async () => undefined,
  addLate: async () => undefined,
};

/** The statuses with a price whose message was sent before `closed_until`. */
export async function findLate(
  messages: Collection<MessageRecord>,
  updates: StatusUpdate[],
  closed_until: Date,
): Promise<LateStatus[]> {
  const charging = updates.filter(isCharging);
  if (charging.length === 0) return [];
  const sent_at = { $lt: closed_until };
  const phone_number_id = { $in: charging.map((update) => update.phone_number_id) };
  const ours = charging.flatMap(({ rebuild }) => rebuild ?? []);
  const partner_id = { $in: ours.map((rebuild) => rebuild.partner_id) };
  const ids = { $in: ours.map(({ _id }) => _id) };
  const message_id = {
    $in: charging.flatMap((update) => (update.rebuild ? [] : [update.message_id])),
  };
  const records = (
    await Promise.all([
      messages.find({ partner_id, phone_number_id, _id: ids, sent_at }).toArray(),
      messages.find({ phone_number_id, message_id, sent_at }).toArray(),
    ])
  ).flat();
  const byKey = new Map(
    records.flatMap((record) => [
      [textOf(keyOf({ ...record, rebuild: record })), record],
      [textOf(keyOf(record)), record],
    ]),
  );
  return charging.flatMap((update) => {
    const record = byKey.get(textOf(keyOf(update)));
    return record ? [{ record, update }] : [];
  });
}
