// Broadcasts: one document each. Conditional updates move them from state to state.
import type { Collection, Db, Filter, IndexDescription } from 'mongodb';
import { isDuplicateKey } from '@bmg/common/mongo';
import {
  ACTIVE,
  broadcastMachine,
  ENDED,
  SHOWN,
  WAITING,
  type BroadcastEvent,
  type BroadcastStatus,
} from '../ground/broadcast-machine';
import { createBroadcastIds, publicId, type BroadcastIds } from './broadcast-ids';
import { inFairPages } from './fair-pages';
import type { Broadcast, Stop } from './types';

/** The broadcasts of a partner; with `waba_id`, only those of one account. */
export interface Scope {
  partner_id: string;
  waba_id?: string | undefined;
}

/**
 * The partner's requests, by the number that a broadcast has for its partner. Drafts are never
 * returned.
 */
export interface PartnerBroadcasts {
  find(scope: Scope, number: number): Promise<Broadcast | null>;
  /** Newest first. */
  list(
    scope: Scope,
    page: { limit: number; offset: number },
  ): Promise<{ broadcasts: Broadcast[]; total: number }>;
  /** Returns null when the broadcast does not exist or its state does not allow it. */
  change(
    scope: Scope,
    number: number,
    event: PartnerEvent,
    set?: PartnerSet,
  ): Promise<Broadcast | null>;
}

/** The events that a partner causes. */
export type PartnerEvent = Extract<
  BroadcastEvent,
  'pause' | 'resume' | 'cancel' | 'approve' | 'approveForLater'
>;
export type PartnerSet = Partial<Pick<Broadcast, 'paused_at' | 'approval'>>;

/** The methods that the creation of a broadcast needs. */
export interface BroadcastDrafts {
  /** Draws the ids of a partner's next broadcast. */
  newIds(partner_id: string): Promise<BroadcastIds>;
  /** Returns 'taken' when the draft's Idempotency-Key is in use, 'id_taken' when one of its ids is. */
  insertDraft(broadcast: Broadcast): Promise<'stored' | 'taken' | 'id_taken'>;
  findByKey(identities: readonly string[]): Promise<Broadcast | null>;
  /** Those in the states of `WAITING` of a partner; counts no further than `most`. */
  countWaiting(partner_id: string, most: number): Promise<number>;
  /** Makes an Idempotency-Key available again. */
  releaseKey(id: number): Promise<void>;
}

/** The methods that workers need, for the broadcasts of all partners. */
export interface RunningBroadcasts {
  /** Returns null when the state does not allow it. */
  move(
    id: number,
    event: BroadcastEvent,
    set?: Partial<Pick<Broadcast, 'started_at' | 'completed_at' | 'stop'>>,
  ): Promise<Broadcast | null>;
  /** Stores why an active broadcast stops; a later reason changes nothing. */
  stop(id: number, stop: Stop): Promise<void>;
  /** Moves due broadcasts to `pending`; returns when the next one before `horizon` is due. */
  fallDue(now: Date, horizon: Date): Promise<Date | undefined>;
  /** Numbers with active broadcasts, and the ids of the oldest ones. Every partner has its share. */
  activeByNumber(each_max: number): Promise<Map<string, ActiveNumber>>;
  load(ids: number[]): Promise<Broadcast[]>;
  countProcessing(phone_number_id: string): Promise<number>;
  /** Those that are queued or running on a number, at most `limit`. */
  queuedOn(phone_number_id: string, limit: number): Promise<Broadcast[]>;
}

/** The methods that the sweeper needs. */
export interface SweptBroadcasts {
  endedWithContacts(limit: number): Promise<Broadcast[]>;
  /** Those in this state whose time `since` is before `at`. */
  inStateBefore(
    status: BroadcastStatus,
    since: 'paused_at' | 'created_at',
    at: Date,
    limit: number,
  ): Promise<Broadcast[]>;
  countInState(status: BroadcastStatus): Promise<number>;
  /** Ended broadcasts that were created before `at`. */
  endedBefore(at: Date, limit: number): Promise<Broadcast[]>;
  contactsRemoved(id: number): Promise<void>;
  remove(id: number): Promise<void>;
}

export type Broadcasts = PartnerBroadcasts & BroadcastDrafts & RunningBroadcasts & SweptBroadcasts;

export interface ActiveNumber {
  partner_id: string;
  ids: number[];
}

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

const numbered = (scope: Scope, number: number): Filter<Broadcast> => ({
  ...scoped(scope),
  $or: [
    { public_id: publicId(scope.partner_id, number) },
    { _id: number, public_id: { $exists: false } },
  ],
});

const createPartnerBroadcasts = (broadcasts: Collection<Broadcast>): PartnerBroadcasts => ({
  find: (scope, number) => broadcasts.findOne(numbered(scope, number)),
  async list(scope, { limit, offset }) {
    const filter = scoped(scope);
    const [found, total] = await Promise.all([
      broadcasts.find(filter).sort({ _id: -1 }).skip(offset).limit(limit).toArray(),
      broadcasts.countDocuments(filter),
    ]);
    return { broadcasts: found, total };
  },
  change: (scope, number, event, set = {}) =>
    broadcasts.findOneAndUpdate(
      { ...numbered(scope, number), status: from(event) },
      { $set: { ...set, status: broadcastMachine.to(event) } },
      { returnDocument: 'after' },
    ),
});

function createDrafts(db: Db): BroadcastDrafts {
  const broadcasts = collection(db);
  const findByKey = (identities: readonly string[]): Promise<Broadcast | null> =>
    broadcasts.findOne({ idempotency: { $in: [...identities] } });
  return {
    newIds: createBroadcastIds(db, broadcasts),
    async insertDraft(broadcast) {
      try {
        await broadcasts.insertOne(broadcast);
        return 'stored';
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        const { idempotency } = broadcast;
        return idempotency && (await findByKey([idempotency].flat())) ? 'taken' : 'id_taken';
      }
    },
    findByKey,
    countWaiting: (partner_id, most) =>
      broadcasts.countDocuments({ partner_id, status: { $in: [...WAITING] } }, { limit: most }),
    async releaseKey(_id) {
      await broadcasts.updateOne({ _id }, { $unset: { idempotency: true, fingerprint: true } });
    },
  };
}

/** Longer than 70 lines: one short method for each query. */
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
    let next: Date | undefined;
    await inFairPages(async (excluded, limit) => {
      const soon = await broadcasts
        .find({ status: from('fallDue'), scheduled_at: { $lte: horizon }, ...excluded })
        .project<Pick<Broadcast, '_id' | 'partner_id' | 'scheduled_at'>>({
          partner_id: 1,
          scheduled_at: 1,
        })
        .sort({ scheduled_at: 1 })
        .limit(limit)
        .toArray();
      const due = soon.filter(({ scheduled_at }) => scheduled_at !== null && scheduled_at <= now);
      next = soon[due.length]?.scheduled_at ?? undefined;
      if (due.length > 0) {
        await broadcasts.updateMany(
          { _id: { $in: due.map(({ _id }) => _id) }, status: from('fallDue') },
          { $set: { status: broadcastMachine.to('fallDue') } },
        );
      }
      return { found: due.length, taken: due };
    });
    return next;
  },
  async activeByNumber(each_max) {
    const numbers = new Map<string, ActiveNumber>();
    let last = 0;
    await inFairPages(async (excluded, limit) => {
      const full = [...numbers].filter(([, { ids }]) => ids.length >= each_max);
      const page = await broadcasts
        .find({
          status: { $in: [...ACTIVE] },
          _id: { $gt: last },
          ...excluded,
          // A number with many broadcasts does not hide the partner's other numbers.
          ...(full.length > 0 && { phone_number_id: { $nin: full.map(([number]) => number) } }),
        })
        .project<Pick<Broadcast, '_id' | 'partner_id' | 'phone_number_id'>>({
          partner_id: 1,
          phone_number_id: 1,
        })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray();
      last = page.at(-1)?._id ?? last;
      return { found: page.length, taken: page.filter((one) => addTo(numbers, one, each_max)) };
    });
    return numbers;
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

/** False once the number has `each_max` of them. */
function addTo(
  numbers: Map<string, ActiveNumber>,
  { _id, partner_id, phone_number_id }: Pick<Broadcast, '_id' | 'partner_id' | 'phone_number_id'>,
  each_max: number,
): boolean {
  const number = numbers.get(phone_number_id) ?? { partner_id, ids: [] };
  numbers.set(phone_number_id, number);
  if (number.ids.length >= each_max) return false;
  number.ids.push(_id);
  return true;
}

const createSweptBroadcasts = (broadcasts: Collection<Broadcast>): SweptBroadcasts => ({
  endedWithContacts: (limit) =>
    broadcasts
      .find({ has_contacts: true, status: { $in: [...ENDED] } })
      .limit(limit)
      .toArray(),
  inStateBefore: (status, since, at, limit) =>
    broadcasts
      .find({ status, [since]: { $lt: at } })
      .limit(limit)
      .toArray(),
  countInState: (status) => broadcasts.countDocuments({ status }),
  endedBefore: (at, limit) =>
    broadcasts
      .find({ status: { $in: [...ENDED] }, created_at: { $lt: at } })
      .limit(limit)
      .toArray(),
  async contactsRemoved(_id) {
    await broadcasts.updateOne({ _id }, { $unset: { has_contacts: true } });
  },
  async remove(_id) {
    await broadcasts.deleteOne({ _id });
  },
});
