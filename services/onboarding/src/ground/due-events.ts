// Events that the service itself makes, about clients and for partners. The row that changes stores
// its event in the same write, so that a crash loses none; the publisher takes it from there.
import type { ONBOARDING_EVENTS } from '@bmg/common/messages';
import type { Collection, Db, IndexDescription } from 'mongodb';

export interface DueEvent {
  event: (typeof ONBOARDING_EVENTS)[number];
  /** Equal for every repetition of the change to its row. */
  key: string;
  at: Date;
  /** The facts that the row does not have. */
  data?: Record<string, string | null>;
}

/** The part of a row that holds its unpublished events. */
export interface HoldsDueEvents {
  events_due?: DueEvent[];
}

/** The update that stores an event with a change. */
export const dueEvent = (event: DueEvent | undefined) =>
  event && { $push: { events_due: event } as never };

export const dueEventIndex: IndexDescription = { key: { 'events_due.at': 1 }, sparse: true };

export const DUE_EVENTS = { 'events_due.at': { $exists: true } };

interface Row extends HoldsDueEvents {
  _id: string;
}

/** Removes events that were published; those stored meanwhile stay. */
export async function forgetEvents(db: Db, collection: string, rows: Row[]): Promise<void> {
  if (rows.length === 0) return;
  const all: Collection<Row> = db.collection(collection);
  await all.bulkWrite(
    rows.flatMap(({ _id, events_due = [] }) => [
      {
        updateOne: {
          filter: { _id },
          update: { $pull: { events_due: { key: { $in: events_due.map(({ key }) => key) } } } },
        },
      },
      {
        updateOne: {
          filter: { _id, events_due: { $size: 0 } },
          update: { $unset: { events_due: true as const } },
        },
      },
    ]),
  );
}
