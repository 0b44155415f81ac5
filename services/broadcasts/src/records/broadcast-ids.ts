// The ids of broadcasts. Each partner's broadcasts are numbered from 1, so that a number reveals
// nothing about other partners. Inside the service a broadcast has another id, which is unique
// among all partners and sorts by creation: chunks, contacts, request ids and the runner only use
// that one.
//
// Broadcasts of earlier releases have one id for both, from a counter that all partners shared.
// Replicas of such a release only find broadcasts by that id. So for an hour after the first
// creation by this release, longer than a rollout takes, ids still come from the shared counter.
// Then:
// - a partner continues above its own highest number;
// - the shared counter jumps far above all numbers, so that an old replica which still runs, or
//   runs again after a rollback, takes no number that this release gives out.
import { randomInt } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import { isDuplicateKey } from '@bmg/common/mongo';
import type { Broadcast } from '../ground/types';
import { publicId, type BroadcastIds } from '../ground/request-id';

interface Counter {
  _id: string;
  value?: number;
  from?: Date;
}

const SHARED = 'broadcast';
const SEPARATE = 'broadcast_ids';
const SHARED_FOR_MS = 3_600_000;
/** Ids from the shared counter after the jump; numbers and earlier ids are far below. */
const SHARED_AFTERWARDS = 1_000_000_000_000;
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
  let separate_from: number | undefined;
  let hasJumped = false;

  return async (partner_id) => {
    separate_from ??= await readStart(counters, now());
    if (now() < separate_from) {
      const _id = await increment(counters, SHARED);
      return { _id, public_id: publicId(partner_id, _id) };
    }
    if (!hasJumped) await jump(counters);
    hasJumped = true;
    const number = await nextNumber(counters, broadcasts, partner_id);
    const _id = (now() - EPOCH_MS) * PER_MS + randomInt(PER_MS);
    return { _id, public_id: publicId(partner_id, number) };
  };
}

/** When numbers per partner begin; the first caller decides: at once in a new database. */
async function readStart(counters: Collection<Counter>, now: number): Promise<number> {
  const isNew = (await counters.findOne({ _id: SHARED })) === null;
  await ignoringDuplicate(
    counters.insertOne({ _id: SEPARATE, from: new Date(isNew ? now : now + SHARED_FOR_MS) }),
  );
  const stored = await counters.findOne({ _id: SEPARATE });
  if (!stored?.from) throw new Error('the start of the numbers of broadcasts is not stored');
  return stored.from.getTime();
}

async function jump(counters: Collection<Counter>): Promise<void> {
  await ignoringDuplicate(
    counters.updateOne({ _id: SHARED }, { $max: { value: SHARED_AFTERWARDS } }, { upsert: true }),
  );
}

async function nextNumber(
  counters: Collection<Counter>,
  broadcasts: Collection<Broadcast>,
  partner_id: string,
): Promise<number> {
  const _id = `${SHARED}/${partner_id}`;
  if ((await counters.findOne({ _id })) === null) {
    const [highest] = await broadcasts
      .find({ partner_id, _id: { $lt: SHARED_AFTERWARDS } })
      .sort({ _id: -1 })
      .limit(1)
      .toArray();
    await ignoringDuplicate(counters.insertOne({ _id, value: highest?._id ?? 0 }));
  }
  return increment(counters, _id);
}

async function increment(counters: Collection<Counter>, _id: string): Promise<number> {
  // The document before the update: the one after it may already contain a later change.
  const before = await counters.findOneAndUpdate(
    { _id },
    { $inc: { value: 1 } },
    { returnDocument: 'before' },
  );
  if (before?.value === undefined) throw new Error(`there is no counter ${_id}`);
  return before.value + 1;
}

/** Another replica stored the same document first. */
async function ignoringDuplicate(write: Promise<unknown>): Promise<void> {
  await write.catch((error: unknown) => {
    if (!isDuplicateKey(error)) throw error;
  });
}
