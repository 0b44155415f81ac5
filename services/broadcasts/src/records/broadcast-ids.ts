// The ids of broadcasts. Each partner's broadcasts are numbered from 1, so that a number reveals
// nothing about other partners. Inside the service a broadcast has another id, which is unique
// among all partners and sorts by creation: chunks, contacts, request ids and the runner only use
// that one.
//
// Releases before 2.10.0 had one id for both, from a counter that all partners shared: a partner
// continues above its own highest.
import { randomInt } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import { storeOnce } from '@bmg/common/mongo';
import type { Broadcast } from '../ground/types';
import { publicId, type BroadcastIds } from '../ground/request-id';

interface Counter {
  _id: string;
  value: number;
}

/** Ids of releases before 2.10.0, which are numbers too, are far below. */
const EARLIER_MAX = 1_000_000_000_000;
/** Milliseconds since then and three random digits: 15 digits, as in request ids, until 2051. */
const EPOCH_MS = Date.UTC(2020, 0, 1);
const PER_MS = 1_000;

/** Returns a function that draws the ids of a partner's next broadcast. */
export function createBroadcastIds(
  db: Db,
  broadcasts: Collection<Broadcast>,
  now = () => Date.now(),
): (partner_id: string) => Promise<BroadcastIds> {
  const counters: Collection<Counter> = db.collection('counters');

  return async (partner_id) => ({
    _id: (now() - EPOCH_MS) * PER_MS + randomInt(PER_MS),
    public_id: publicId(partner_id, await nextNumber(counters, broadcasts, partner_id)),
  });
}

async function nextNumber(
  counters: Collection<Counter>,
  broadcasts: Collection<Broadcast>,
  partner_id: string,
): Promise<number> {
  const _id = `broadcast/${partner_id}`;
  if ((await counters.findOne({ _id })) === null) {
    const [highest] = await broadcasts
      .find({ partner_id, _id: { $lt: EARLIER_MAX } })
      .sort({ _id: -1 })
      .limit(1)
      .toArray();
    // Another replica may store it first.
    await storeOnce(() => counters.insertOne({ _id, value: highest?._id ?? 0 }));
  }
  // The document before the update: the one after it may already contain a later change.
  const before = await counters.findOneAndUpdate(
    { _id },
    { $inc: { value: 1 } },
    { returnDocument: 'before' },
  );
  if (!before) throw new Error(`there is no counter ${_id}`);
  return before.value + 1;
}
