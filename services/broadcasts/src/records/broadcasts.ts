// Broadcasts: one document each. Conditional updates move them from state to state.
import type { Collection, Db, Filter, IndexDescription } from 'mongodb';
import { storeOnce } from '@bmg/common/mongo';
import {
  ACTIVE,
  broadcastMachine,
  ENDED,
  SHOWN,
  WAITING,
  type BroadcastEvent,
  type BroadcastStatus,
} from '../ground/broadcast-machine';
import { createBroadcastIds } from './broadcast-ids';
import { publicId } from '../ground/request-id';
import type { Broadcast, Stop } from '../ground/types';
import { createActiveBroadcasts, inStateFor } from './active';

/** The broadcasts of a partner; with `waba_id`, only those of one account. */
export interface Scope {
  partner_id: string;
  waba_id?: string | undefined;
}

export type PartnerEvent = Extract<
  BroadcastEvent,
  'pause' | 'resume' | 'cancel' | 'approve' | 'approveForLater'
>;
export type PartnerSet = Partial<Pick<Broadcast, 'paused_at' | 'approval'>>;

export const BROADCASTS = 'broadcasts';
export const broadcastIndexes: IndexDescription[] = [
  { key: { idempotency: 1 }, unique: true, sparse: true },
  { key: { public_id: 1 }, unique: true, sparse: true },
  { key: { partner_id: 1, _id: -1 } },
  { key: { partner_id: 1, status: 1 } },
  { key: { status: 1, phone_number_id: 1 } },
  { key: { status: 1, scheduled_at: 1 } },
  { key: { status: 1, created_at: 1 } },
  // Serves the sweep: those that wait for their time have contacts, too.
  { key: { has_contacts: 1, status: 1 } },
  // Covers the search for active broadcasts.
  { key: { status: 1, _id: 1, partner_id: 1, phone_number_id: 1 } },
];

export function createBroadcastStore(db: Db) {
  const broadcasts: Collection<Broadcast> = db.collection(BROADCASTS);
  return {
    newIds: createBroadcastIds(db, broadcasts),
    ...createPartnerBroadcasts(broadcasts),
    ...createDrafts(broadcasts),
    ...createTransitions(broadcasts),
    ...createActiveBroadcasts(broadcasts),
    ...createSweptBroadcasts(broadcasts),
  };
}

export type Broadcasts = ReturnType<typeof createBroadcastStore>;

const scoped = ({ partner_id, waba_id }: Scope): Filter<Broadcast> => ({
  partner_id,
  ...(waba_id !== undefined && { waba_id }),
  status: { $in: [...SHOWN] },
});

const numbered = (scope: Scope, number: number): Filter<Broadcast> => ({
  ...scoped(scope),
  $or: [
    { public_id: publicId(scope.partner_id, number) },
    { _id: number, public_id: { $exists: false } },
  ],
});

/** The partner's requests, by the number that its broadcast has for it. Returns no drafts. */
const createPartnerBroadcasts = (broadcasts: Collection<Broadcast>) => ({
  find: (scope: Scope, number: number): Promise<Broadcast | null> =>
    broadcasts.findOne(numbered(scope, number)),
  /** Newest first. */
  async list(
    scope: Scope,
    { limit, offset }: { limit: number; offset: number },
  ): Promise<{ broadcasts: Broadcast[]; total: number }> {
    const filter = scoped(scope);
    const [found, total] = await Promise.all([
      broadcasts.find(filter).sort({ _id: -1 }).skip(offset).limit(limit).toArray(),
      broadcasts.countDocuments(filter),
    ]);
    return { broadcasts: found, total };
  },
  /** Returns null when the broadcast does not exist or its state does not allow it. */
  change: (scope: Scope, number: number, event: PartnerEvent, set: PartnerSet = {}) =>
    moved(broadcasts, numbered(scope, number), event, set),
});

/** Returns the broadcast after the event; null if its state does not allow it. */
const moved = (
  broadcasts: Collection<Broadcast>,
  one: Filter<Broadcast>,
  event: BroadcastEvent,
  set: Partial<Broadcast>,
): Promise<Broadcast | null> =>
  broadcasts.findOneAndUpdate(
    { ...one, status: inStateFor(event) },
    { $set: { ...set, status: broadcastMachine.to(event) } },
    { returnDocument: 'after' },
  );

function createDrafts(broadcasts: Collection<Broadcast>) {
  const findByKey = (identities: readonly string[]): Promise<Broadcast | null> =>
    broadcasts.findOne({ idempotency: { $in: [...identities] } });
  return {
    /**
     * Returns 'taken' when the draft's Idempotency-Key is in use, 'id_taken' when one of its ids
     * is.
     */
    async insertDraft(broadcast: Broadcast): Promise<'stored' | 'taken' | 'id_taken'> {
      if (await storeOnce(() => broadcasts.insertOne(broadcast))) return 'stored';
      const { idempotency } = broadcast;
      return idempotency && (await findByKey([idempotency].flat())) ? 'taken' : 'id_taken';
    },
    findByKey,
    /** Those in the states of `WAITING` of a partner; counts no further than `most`. */
    countWaiting: (partner_id: string, most: number): Promise<number> =>
      broadcasts.countDocuments({ partner_id, status: { $in: [...WAITING] } }, { limit: most }),
    async releaseKey(_id: number): Promise<void> {
      await broadcasts.updateOne({ _id }, { $unset: { idempotency: true, fingerprint: true } });
    },
  };
}

const createTransitions = (broadcasts: Collection<Broadcast>) => ({
  /** Returns null when the state does not allow it. */
  move: (
    _id: number,
    event: BroadcastEvent,
    set: Partial<Pick<Broadcast, 'started_at' | 'completed_at' | 'stop'>> = {},
  ) => moved(broadcasts, { _id }, event, set),
  /** Stores why an active broadcast stops; a later reason changes nothing. */
  async stop(_id: number, stop: Stop): Promise<void> {
    await broadcasts.updateOne(
      { _id, status: { $in: [...ACTIVE] }, stop: null },
      { $set: { stop } },
    );
  },
});

const inEnd = { $in: [...ENDED] };

const createSweptBroadcasts = (broadcasts: Collection<Broadcast>) => ({
  endedWithContacts: (limit: number) =>
    broadcasts.find({ has_contacts: true, status: inEnd }).limit(limit).toArray(),
  /** Those in this state whose time `since` is before `at`. */
  inStateBefore: (
    status: BroadcastStatus,
    since: 'paused_at' | 'created_at',
    at: Date,
    limit: number,
  ) =>
    broadcasts
      .find({ status, [since]: { $lt: at } })
      .limit(limit)
      .toArray(),
  countInState: (status: BroadcastStatus): Promise<number> => broadcasts.countDocuments({ status }),
  /** Ended broadcasts that were created before `at`. */
  endedBefore: (at: Date, limit: number) =>
    broadcasts
      .find({ status: inEnd, created_at: { $lt: at } })
      .limit(limit)
      .toArray(),
  async contactsRemoved(_id: number): Promise<void> {
    await broadcasts.updateOne({ _id }, { $unset: { has_contacts: true } });
  },
  async remove(_id: number): Promise<void> {
    await broadcasts.deleteOne({ _id });
  },
});
