// Broadcasts: one document each. Conditional updates move them from state to state.
import type { Collection, Db, Filter, IndexDescription } from 'mongodb';
import { isDuplicateKey } from '@bmg/common/mongo';
import { ACTIVE, broadcastMachine, ENDED, SHOWN, type BroadcastEvent } from '../broadcast-machine';
import type { Broadcast, Stop } from './types';

/** The broadcasts of a partner; with `waba_id`, only those of one account. */
export interface Scope {
  partner_id: string;
  waba_id?: string | undefined;
}

/** What partners ask for. Drafts are never returned. */
export interface PartnerBroadcasts {
  find(scope: Scope, id: number): Promise<Broadcast | null>;
  /** Newest first. */
  list(
    scope: Scope,
    page: { limit: number; offset: number },
  ): Promise<{ broadcasts: Broadcast[]; total: number }>;
  /** Returns null when the broadcast does not exist or its state does not allow it. */
  cancel(scope: Scope, id: number): Promise<Broadcast | null>;
}

/** What the creation of a broadcast needs. */
export interface BroadcastDrafts {
  nextId(): Promise<number>;
  /** Returns 'taken' when the draft's Idempotency-Key is in use. */
  insertDraft(broadcast: Broadcast): Promise<'stored' | 'taken'>;
  findByKey(idempotency: string): Promise<Broadcast | null>;
  /** Makes an Idempotency-Key available again. */
  releaseKey(id: number, idempotency: string): Promise<void>;
}

/** What workers need, for the broadcasts of all partners. */
export interface RunningBroadcasts {
  /** Returns null when the state does not allow it. */
  move(
    id: number,
    event: BroadcastEvent,
    set?: Partial<Pick<Broadcast, 'started_at' | 'completed_at'>>,
  ): Promise<Broadcast | null>;
  /** Stores why an active broadcast stops; a later reason changes nothing. */
  stop(id: number, stop: Stop): Promise<void>;
  /** Moves due broadcasts to `pending`; returns when the next one before `horizon` is due. */
  fallDue(now: Date, horizon: Date): Promise<Date | undefined>;
  /** For each number with active broadcasts, the ids of the oldest ones. */
  activeByNumber(each_max: number): Promise<Map<string, number[]>>;
  load(ids: number[]): Promise<Broadcast[]>;
  countProcessing(phone_number_id: string): Promise<number>;
  /** Those that are queued or running on a number, at most `limit`. */
  queuedOn(phone_number_id: string, limit: number): Promise<Broadcast[]>;
}

/** What the sweeper needs. */
export interface SweptBroadcasts {
  endedWithContacts(limit: number): Promise<Broadcast[]>;
  draftsBefore(at: Date, limit: number): Promise<Broadcast[]>;
  /** Ended broadcasts that were created before `at`. */
  endedBefore(at: Date, limit: number): Promise<Broadcast[]>;
  contactsRemoved(id: number): Promise<void>;
  remove(id: number): Promise<void>;
}

export type Broadcasts = PartnerBroadcasts & BroadcastDrafts & RunningBroadcasts & SweptBroadcasts;

const COUNTER = 'broadcast';
/** Moved at a time; the rest follows a second later. */
const DUE_MAX = 1_000;

export const BROADCASTS = 'broadcasts';
export const broadcastIndexes: IndexDescription[] = [
  { key: { idempotency: 1 }, unique: true, sparse: true },
  { key: { partner_id: 1, _id: -1 } },
  { key: { status: 1, phone_number_id: 1 } },
  { key: { status: 1, scheduled_at: 1 } },
];

const collection = (db: Db): Collection<Broadcast> => db.collection(BROADCASTS);

export const createBroadcastStore = (db: Db): Broadcasts => ({
  ...createPartnerBroadcasts(collection(db)),
  ...createDrafts(db),
  ...createRunningBroadcasts(collection(db)),
  ...createSweptBroadcasts(collection(db)),
});

const from = (event: BroadcastEvent) => ({ $in: [...broadcastMachine.from(event)] });

const scoped = ({ partner_id, waba_id }: Scope): Filter<Broadcast> => ({
  partner_id,
  ...(waba_id !== undefined && { waba_id }),
  status: { $in: [...SHOWN] },
});

const createPartnerBroadcasts = (broadcasts: Collection<Broadcast>): PartnerBroadcasts => ({
  find: (scope, _id) => broadcasts.findOne({ _id, ...scoped(scope) }),
  async list(scope, { limit, offset }) {
    const filter = scoped(scope);
    const [found, total] = await Promise.all([
      broadcasts.find(filter).sort({ _id: -1 }).skip(offset).limit(limit).toArray(),
      broadcasts.countDocuments(filter),
    ]);
    return { broadcasts: found, total };
  },
  cancel: (scope, _id) =>
    broadcasts.findOneAndUpdate(
      { _id, ...scoped(scope), status: from('cancel') },
      { $set: { status: broadcastMachine.to('cancel') } },
      { returnDocument: 'after' },
    ),
});

function createDrafts(db: Db): BroadcastDrafts {
  const broadcasts = collection(db);
  const counters = db.collection<{ _id: string; value: number }>('counters');
  const increment = (): Promise<{ value: number } | null> =>
    counters.findOneAndUpdate(
      { _id: COUNTER },
      { $inc: { value: 1 } },
      { upsert: true, returnDocument: 'before' },
    );
  return {
    async nextId() {
      // Two first callers may both try to create the counter: the one that fails repeats and finds it.
      const before = await increment().catch((error: unknown) => {
        if (isDuplicateKey(error)) return increment();
        throw error;
      });
      return (before?.value ?? 0) + 1;
    },
    async insertDraft(broadcast) {
      try {
        await broadcasts.insertOne(broadcast);
        return 'stored';
      } catch (error) {
        if (isDuplicateKey(error)) return 'taken';
        throw error;
      }
    },
    findByKey: (idempotency) => broadcasts.findOne({ idempotency }),
    async releaseKey(_id, idempotency) {
      await broadcasts.updateOne(
        { _id, idempotency },
        { $unset: { idempotency: true, fingerprint: true } },
      );
    },
  };
}

const createRunningBroadcasts = (broadcasts: Collection<Broadcast>): RunningBroadcasts => ({
  move: (_id, event, set = {}) =>
    broadcasts.findOneAndUpdate(
      { _id, status: from(event) },
      { $set: { ...set, status: broadcastMachine.to(event) } },
      { returnDocument: 'after' },
    ),
  async stop(_id, stop) {
    await broadcasts.updateOne(
      { _id, status: { $in: [...ACTIVE] }, stop: null },
      { $set: { stop } },
    );
  },
  async fallDue(now, horizon) {
    const soon = await broadcasts
      .find({ status: from('fallDue'), scheduled_at: { $lte: horizon } })
      .project<Pick<Broadcast, '_id' | 'scheduled_at'>>({ scheduled_at: 1 })
      .sort({ scheduled_at: 1 })
      .limit(DUE_MAX)
      .toArray();
    const due = soon.filter(({ scheduled_at }) => scheduled_at !== null && scheduled_at <= now);
    if (due.length > 0) {
      await broadcasts.updateMany(
        { _id: { $in: due.map(({ _id }) => _id) }, status: from('fallDue') },
        { $set: { status: broadcastMachine.to('fallDue') } },
      );
    }
    return soon[due.length]?.scheduled_at ?? undefined;
  },
  async activeByNumber(each_max) {
    const groups = await broadcasts
      .aggregate<{ _id: string; ids: number[] }>([
        { $match: { status: { $in: [...ACTIVE] } } },
        { $sort: { _id: 1 } },
        { $group: { _id: '$phone_number_id', ids: { $push: '$_id' } } },
      ])
      .toArray();
    // Limited per number, so that a number with many broadcasts does not hide other numbers.
    return new Map(groups.map(({ _id, ids }) => [_id, ids.slice(0, each_max)]));
  },
  load: (ids) =>
    ids.length === 0 ? Promise.resolve([]) : broadcasts.find({ _id: { $in: ids } }).toArray(),
  countProcessing: (phone_number_id) =>
    broadcasts.countDocuments({ status: 'processing', phone_number_id }),
  queuedOn: (phone_number_id, limit) =>
    broadcasts
      .find({ status: { $in: ['pending', 'processing'] }, phone_number_id })
      .limit(limit)
      .toArray(),
});

const createSweptBroadcasts = (broadcasts: Collection<Broadcast>): SweptBroadcasts => ({
  endedWithContacts: (limit) =>
    broadcasts
      .find({ status: { $in: [...ENDED] }, has_contacts: true })
      .limit(limit)
      .toArray(),
  draftsBefore: (at, limit) =>
    broadcasts
      .find({ status: 'draft', created_at: { $lt: at } })
      .limit(limit)
      .toArray(),
  endedBefore: (at, limit) =>
    broadcasts
      .find({ status: { $in: [...ENDED] }, created_at: { $lt: at } })
      .limit(limit)
      .toArray(),
  async contactsRemoved(_id) {
    await broadcasts.updateOne({ _id }, { $set: { has_contacts: false } });
  },
  async remove(_id) {
    await broadcasts.deleteOne({ _id });
  },
});
